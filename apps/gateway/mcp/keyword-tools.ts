import { z } from 'zod';
import { SOURCE_IDS } from '#contracts';
import { READS, tool, type McpTool } from './tool.js';
import { cursor, instant, plainTexts, withoutAbsent } from './mention-tools.js';
import { NOTICE } from './untrusted.js';

/** The parameter for the id of a keyword. */
export const keywordId = z.string().describe('Id of the keyword');

const listed = z.object({
  id: z.string(),
  name: z.string(),
  state: z.string(),
  paused_reason: z.string().nullable(),
  sources: z.array(z.string()),
  monthly_credits: z.number(),
});

const list = tool({
  name: 'list_keywords',
  title: 'List keywords',
  description: 'The keywords of the account, newest first, with their state and price. Free.',
  input: z.strictObject({
    state: z.enum(['active', 'paused', 'retired']).optional(),
    name: z.string().optional().describe('Only keywords whose name contains this text'),
    limit: z.int().min(1).max(100).optional().describe('Default: 20'),
    cursor,
  }),
  output: z.object({ keywords: z.array(listed), next_cursor: z.string().optional() }),
  effects: READS,
  role: 'viewer',
  async run({ caller, routes }, { state, name, limit = 20, cursor: from }) {
    const raw = withoutAbsent({ state, q: name, limit: String(limit), cursor: from });
    const { data, nextCursor } = await routes.keywords.list(caller, raw);
    return {
      keywords: data.map((keyword) => listedKeyword(keyword)),
      ...(nextCursor === undefined ? {} : { next_cursor: nextCursor }),
    };
  },
});

const read = tool({
  name: 'get_keyword',
  title: 'Read a keyword',
  description: 'All settings of a keyword, its searches and its price. Free.',
  input: z.strictObject({ id: keywordId }),
  output: z.object({ keyword: z.looseObject({ id: z.string(), name: z.string() }) }),
  effects: READS,
  role: 'viewer',
  async run({ caller, routes }, { id }) {
    return { keyword: await keywordOf(routes.keywords.read(caller, id)) };
  },
});

const activity = tool({
  name: 'get_activity',
  title: 'Read the activity of a keyword',
  description:
    'The checks of a keyword with their new events, credits and failures, its deliveries, and the events of the keyword itself (such as pauses and alerts), newest first. Default window: the last 7 days. Free.',
  input: z.strictObject({
    id: keywordId,
    source: z.enum(SOURCE_IDS).optional(),
    since: instant('Beginning of the window'),
    limit: z.int().min(1).max(100).optional().describe('Default: 20'),
    cursor,
  }),
  output: z.object({
    notice: z.string(),
    untrusted: z.object({ activity: z.array(z.looseObject({ type: z.string() })) }),
    next_cursor: z.string().optional(),
  }),
  effects: READS,
  role: 'viewer',
  async run({ caller, routes }, { id, source, since, limit = 20, cursor: from }) {
    const raw = withoutAbsent({ source, since, limit: String(limit), cursor: from });
    const page = await routes.activity.ofKeyword(caller, id, raw);
    return {
      notice: NOTICE,
      // Messages of failures can contain text of a server.
      untrusted: { activity: plainTexts(page.activity) as { type: string }[] },
      ...(page.nextCursor === undefined ? {} : { next_cursor: page.nextCursor }),
    };
  },
});

const coverage = tool({
  name: 'get_coverage',
  title: 'Read the coverage of a keyword',
  description:
    'Shows for each search which periods were read, the gaps and failures with their reasons, the delay until a mention was found, and the time of the next check. If the returned since is later than the requested one, the time before was left out: to read it, send the returned since as until. Free.',
  input: z.strictObject({ id: keywordId, since: instant('Beginning'), until: instant('End') }),
  output: z.object({
    notice: z.string(),
    untrusted: z.object({ searches: z.array(z.looseObject({})) }),
    since: z.string(),
    until: z.string(),
  }),
  effects: READS,
  role: 'viewer',
  async run({ caller, routes }, { id, since, until }) {
    const found = await routes.coverage.read(caller, id, withoutAbsent({ since, until }));
    return {
      notice: NOTICE,
      untrusted: { searches: plainTexts(found.data) as Record<string, unknown>[] },
      since: found.since,
      until: found.until,
    };
  },
});

/** The tools that read keywords. */
export const keywordTools: readonly McpTool[] = [list, read, activity, coverage];

type ListedKeyword = {
  id: string;
  state: string;
  pausedReason: string | null;
  monthlyCredits: number;
};

/** Returns a keyword in the form of the list of keywords. */
export function listedKeyword(keyword: ListedKeyword): z.input<typeof listed> {
  const { name, sources } = keyword as ListedKeyword & {
    name?: string;
    sources?: { source: string; enabled: boolean }[];
  };
  return {
    id: keyword.id,
    name: name ?? '',
    state: keyword.state,
    paused_reason: keyword.pausedReason,
    sources: (sources ?? []).filter(({ enabled }) => enabled).map(({ source }) => source),
    monthly_credits: keyword.monthlyCredits,
  };
}

/** Returns a keyword as the interface returns it. */
export async function keywordOf(view: Promise<object>): Promise<{ id: string; name: string }> {
  return (await view) as { id: string; name: string };
}
