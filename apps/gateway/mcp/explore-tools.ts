import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { creditsPerExploredSource, SOURCE_IDS } from '#contracts';
import { derivedId } from '#kernel';
import { cursor, withoutAbsent } from './mention-tools.js';
import { READS, tool, type McpTool, type ToolContext } from './tool.js';
import { mentionForAgent, NOTICE, shortMention } from './untrusted.js';

const POLL_MS = 500;

const question = {
  question: z.string().min(1).max(500).describe('The question that the sources get'),
  sources: z.array(z.enum(SOURCE_IDS)).min(1),
  market: z.string().optional(),
  limit: z.int().min(1).max(100).optional().describe('Maximum number of items from each source. Default: 25'),
  terms: z
    .array(z.string())
    .min(1)
    .max(5)
    .optional()
    .describe(
      'Used instead of the question: finds posts that contain any of these terms. ai_answers still gets the question',
    ),
  feed_urls: z.array(z.string()).min(1).max(20).optional().describe('The feeds of rss; required for rss'),
};

const estimate = tool({
  name: 'estimate_explore',
  title: 'Estimate an Explore',
  description:
    'Returns what it costs to ask sources a question once (2 credits for each source), and an estimate_token for run_explore. Does not ask the sources. Free.',
  input: z.strictObject(question),
  output: z.object({
    valid: z.boolean(),
    refusal: z.looseObject({ code: z.string(), message: z.string() }).optional(),
    credits: z.number().optional(),
    estimate: z.looseObject({}).optional(),
    estimate_token: z.string().optional(),
    estimate_token_expires_at: z.string().optional(),
  }),
  effects: READS,
  role: 'viewer',
  async run({ caller, routes }, input) {
    const found = await routes.explore.estimate(caller, withoutAbsent(input));
    if (!('estimate' in found)) return { valid: false, refusal: found.refusal };
    return {
      valid: true,
      credits: found.estimate.credits,
      estimate: found.estimate,
      estimate_token: found.estimateToken,
      estimate_token_expires_at: found.estimateTokenExpiresAt,
    };
  },
});

const run = tool({
  name: 'run_explore',
  title: 'Ask sources a question',
  description:
    'Asks sources a question once, without a keyword. Costs 2 credits for each source that answers. For each of the sources, 2 credits count towards the daily limit of the API key, even if the source does not answer. Waits up to wait_seconds for the answers. To read more results, or to read them later, call run_explore with explore_id instead of a question; this is free.',
  input: z.strictObject({
    question: question.question.optional(),
    sources: question.sources.optional(),
    market: question.market,
    terms: question.terms,
    feed_urls: question.feed_urls,
    limit: question.limit,
    estimate_token: z
      .string()
      .optional()
      .describe(
        'From estimate_explore. With it, the price is the estimated price, and repeated calls ask the sources only once',
      ),
    explore_id: z.string().optional().describe('Reads the results of an earlier Explore'),
    wait_seconds: z.int().min(0).max(30).optional().describe('Default: 10'),
    page_size: z.int().min(1).max(50).optional().describe('Items in this answer. Default: 10'),
    cursor,
  }),
  output: z.object({
    notice: z.string(),
    explore_id: z.string(),
    status: z.string(),
    sources: z.array(z.looseObject({ source: z.string(), status: z.string() })),
    credits_quoted: z.number(),
    credits_used: z.number(),
    items: z.array(shortMention),
    next_cursor: z.string().optional(),
  }),
  effects: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  role: 'editor',
  async run(context, { explore_id: known, wait_seconds = 10, page_size = 10, cursor: from, ...asked }) {
    const { caller, routes } = context;
    const id = known ?? (await startExplore(context, asked));
    const explore = await outcome(context, id, wait_seconds);
    const page = await routes.exploreItems.items(
      caller,
      id,
      withoutAbsent({ limit: String(page_size), cursor: from }),
    );
    return {
      notice: NOTICE,
      explore_id: id,
      status: explore.status,
      sources: explore.sources,
      credits_quoted: explore.creditsQuoted,
      credits_used: explore.creditsUsed,
      items: page.data.map((mention) => mentionForAgent(mention)),
      ...(page.nextCursor === undefined ? {} : { next_cursor: page.nextCursor }),
    };
  },
});

const credits = tool({
  name: 'get_credits',
  title: 'Read the credits',
  description:
    'The credits of the account, how they were used in this period, and how much of its daily limit this API key has spent through MCP today. Free.',
  input: z.strictObject({}),
  output: z.object({
    credits: z.looseObject({ creditsRemaining: z.number() }),
    mcp_today: z.object({ credits_spent: z.number(), daily_limit: z.number() }),
  }),
  effects: READS,
  role: 'viewer',
  async run({ caller, routes, spending }) {
    return {
      credits: await routes.credits.balance(caller, {}),
      mcp_today: {
        credits_spent: await spending.spentToday(caller.by.id),
        daily_limit: spending.limitOf(caller.by),
      },
    };
  },
});

/** The tools of Explore and of the credits. */
export const exploreTools: readonly McpTool[] = [estimate, run, credits];

async function startExplore(
  { caller, routes, spending, commandId: ofRequest }: ToolContext,
  {
    estimate_token: token,
    ...asked
  }: { estimate_token?: string | undefined; sources?: string[] | undefined },
): Promise<string> {
  const commandId = token === undefined ? ofRequest : derivedId('mcp explore', caller.accountId, token);
  const max = creditsPerExploredSource() * (asked.sources?.length ?? 0);
  const { id } = await spending.spendOnce(caller.by, max, commandId, () =>
    routes.explore.start(caller, commandId, withoutAbsent(asked), token),
  );
  return id;
}

/** Waits until the Explore has ended or the time is over, and returns the Explore. */
async function outcome({ caller, routes }: ToolContext, id: string, seconds: number) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const explore = await routes.explore.read(caller, id);
    if (explore.status === 'done' || explore.status === 'failed' || Date.now() >= end) return explore;
    await wait(POLL_MS);
  }
}
