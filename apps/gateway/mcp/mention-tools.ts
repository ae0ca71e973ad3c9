import { z } from 'zod';
import { INTENTS, SENTIMENTS, SOURCE_IDS } from '#contracts';
import { LABELS } from '../reads/mention-filter.js';
import { READS, tool, type McpTool } from './tool.js';
import { mentionForAgent, NOTICE, plain, shortMention } from './untrusted.js';

const QUESTION_CREDITS = 2;

/** The parameter that continues a list. */
export const cursor = z
  .string()
  .optional()
  .describe('next_cursor of the previous page; keep all other parameters the same');
/** Returns an optional parameter for a time. */
export const instant = (what: string) => z.string().optional().describe(`${what}, ISO 8601`);

const search = tool({
  name: 'search_mentions',
  title: 'Search mentions',
  description:
    'Lists mentions of the account, found by words, by meaning, or only by filters: newest first, or by score for a search by meaning. Default window: the last 24 hours; send since for a longer window. A search by words or filters is free. A search by meaning costs 2 credits for each new question, and nothing for the same question within ten minutes; credits_used is the cost of this call.',
  input: z
    .strictObject({
      words: z
        .string()
        .max(200)
        .optional()
        .describe(
          'The text must contain all of these words and "phrases". Cannot be combined with `meaning`',
        ),
      meaning: z
        .string()
        .max(1000)
        .optional()
        .describe(
          'A question. Finds mentions whose meaning is near the question. Cannot be combined with `words`. Costs 2 credits',
        ),
      keyword_id: z.string().optional(),
      sources: z.array(z.enum(SOURCE_IDS)).optional(),
      sentiments: z.array(z.enum(SENTIMENTS)).optional(),
      intents: z.array(z.enum(INTENTS)).optional(),
      labels: z.array(z.enum(LABELS)).optional(),
      authors: z.array(z.string()).optional().describe('Exact handles'),
      min_relevance: z.int().min(0).max(100).optional(),
      include_dropped: z
        .boolean()
        .optional()
        .describe(
          'Also mentions that were dropped by a mute or a rule, for low relevance, or for their language',
        ),
      since: instant('Beginning of the window'),
      until: instant('End of the window, exclusive'),
      limit: z.int().min(1).max(50).optional().describe('Default: 10'),
      cursor,
    })
    .refine(({ words, meaning }) => !words || !meaning, {
      path: ['words'],
      error: 'cannot be combined with meaning; send only one of them',
    }),
  output: z.object({
    notice: z.string(),
    mentions: z.array(shortMention),
    since: z.string(),
    credits_used: z.number(),
    next_cursor: z.string().optional(),
  }),
  effects: { ...READS, openWorldHint: true },
  role: 'viewer',
  async run({ caller, routes, spending }, input) {
    const raw = {
      q: input.meaning || input.words,
      mode: input.meaning ? 'semantic' : undefined,
      keyword: input.keyword_id,
      source: input.sources,
      sentiment: input.sentiments,
      intent: input.intents,
      label: input.labels,
      author: input.authors,
      minRelevance: input.min_relevance?.toString(),
      include: input.include_dropped === true ? 'dropped' : undefined,
      since: input.since,
      until: input.until,
      limit: String(input.limit ?? 10),
      cursor: input.cursor,
    };
    const max = input.meaning ? QUESTION_CREDITS : 0;
    const page = await spending.spend(
      caller.by,
      max,
      () => routes.mentions.list(caller, withoutAbsent(raw)),
      ({ meta }) => meta.credits_used,
    );
    return {
      notice: NOTICE,
      mentions: page.data.map((mention) => mentionForAgent(mention)),
      since: page.since,
      credits_used: page.meta.credits_used,
      ...(page.nextCursor === undefined ? {} : { next_cursor: page.nextCursor }),
    };
  },
});

const read = tool({
  name: 'get_mention',
  title: 'Read a mention',
  description: 'One mention with its text, cut to max_characters. Free.',
  input: z.strictObject({
    id: z.string(),
    max_characters: z.int().min(1).max(20_000).optional().describe('Default: 4000'),
  }),
  output: z.object({ notice: z.string(), mention: shortMention }),
  effects: READS,
  role: 'viewer',
  async run({ caller, routes }, { id, max_characters = 4000 }) {
    const mention = await routes.mentions.read(caller, id);
    return { notice: NOTICE, mention: mentionForAgent(mention, max_characters) };
  },
});

const explain = tool({
  name: 'explain_mention',
  title: 'Explain a mention',
  description:
    'Why a mention matched: the terms and their positions, which mutes, VIPs and rules were checked with which outcome, and how each reading was made. Free.',
  input: z.strictObject({ id: z.string() }),
  output: z.object({ notice: z.string(), untrusted: z.looseObject({}) }),
  effects: READS,
  role: 'viewer',
  async run({ caller, routes }, { id }) {
    const why = await routes.mentions.why(caller, id);
    return { notice: NOTICE, untrusted: plainTexts(why) as Record<string, unknown> };
  },
});

/** The tools that read mentions. */
export const mentionTools: readonly McpTool[] = [search, read, explain];

/** Returns the object without the keys whose value is undefined. */
export function withoutAbsent<T extends object>(given: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}

/** Removes invisible characters from all texts inside a value, and shortens these texts. */
export function plainTexts(value: unknown): unknown {
  if (typeof value === 'string') return plain(value);
  if (Array.isArray(value)) return value.map(plainTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainTexts(inner)]));
}
