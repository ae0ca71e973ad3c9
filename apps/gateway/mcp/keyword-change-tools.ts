import { z } from 'zod';
import { derivedId, Refusal, systemClock } from '#kernel';
import { creditsADay, estimateIn, estimateOf, FREE, resumeCredits } from './keyword-estimates.js';
import { keywordId, keywordOf } from './keyword-tools.js';
import { CHANGES, READS, tool, type McpTool } from './tool.js';

const body = z
  .looseObject({
    name: z.string().describe('1 to 80 characters'),
    refresh_interval_seconds: z.int().optional().describe('Seconds between checks; required'),
    global_criteria: z
      .looseObject({})
      .optional()
      .describe(
        'Required: {market: "global", query: "acme"}, or {market, terms: [two or more]}; match: word, contains or platform',
      ),
    sources: z
      .array(z.looseObject({}))
      .optional()
      .describe(
        'Required: [{source: "hackernews", enabled: true}, …]; the resource earshot://sources contains the ids of sources',
      ),
  })
  .describe(
    'The body of POST /v1/keywords, in snake_case or camelCase. Some of the optional fields: mute_rules, vip_authors, rules, webhook_url, channels, spike_alert, backfill, min_relevance, languages, schedule',
  );

const price = {
  monthly_credits: z
    .number()
    .describe('Credits that the checks of the keyword cost in 30 days. Readings of mentions cost extra'),
  first_scan_credits: z
    .number()
    .describe(
      'Maximum number of credits that the first scan costs, in addition to monthly_credits. Readings of mentions cost extra',
    ),
};

const estimate = tool({
  name: 'estimate_keyword',
  title: 'Estimate a keyword',
  description:
    'Returns what a keyword would cost, or why it would be refused, and the estimate_token that create_keyword needs. The token is valid for this body, for 15 minutes. Creates nothing. Free. Show the price to the user before you create the keyword. To estimate a change of a keyword, send its id as change_of and the changed fields as keyword; update_keyword needs no token.',
  input: z.strictObject({
    keyword: body.partial(),
    change_of: keywordId.optional().describe('Id of the keyword that the fields would change'),
  }),
  output: z.object({
    valid: z.boolean(),
    refusal: z.looseObject({ code: z.string(), message: z.string() }).optional(),
    monthly_credits: price.monthly_credits.optional(),
    first_scan_credits: price.first_scan_credits.optional(),
    estimate: z.looseObject({}).optional().describe('The price by source and by search'),
    estimate_token: z.string().optional(),
    estimate_token_expires_at: z.string().optional(),
  }),
  effects: READS,
  role: 'viewer',
  async run({ caller, routes }, { keyword, change_of: changed }) {
    const found = await estimateOf({ caller, routes }, keyword, changed);
    if (!found.valid) return { valid: false, refusal: found.refusal };
    return {
      valid: true,
      monthly_credits: found.estimate.monthlyCredits,
      first_scan_credits: found.estimate.firstScanCredits,
      estimate: found.estimate,
      ...(changed === undefined && {
        estimate_token: found.estimateToken,
        estimate_token_expires_at: found.estimateTokenExpiresAt,
      }),
    };
  },
});

const create = tool({
  name: 'create_keyword',
  title: 'Create a keyword',
  description:
    'Creates a keyword. Its checks then cost credits: in a month, the monthly_credits of its estimate. Needs the estimate_token that estimate_keyword returned for the same body. The same token creates only one keyword, even if it is sent several times. Two amounts count towards the daily limit of the API key: the keyword’s credits of one day, and the startCredits of its estimate, which pay for the first check, or the first scan, of each search.',
  input: z.strictObject({ keyword: body, estimate_token: z.string().optional().describe('Required') }),
  output: z.object({ keyword: z.looseObject({ id: z.string(), name: z.string() }), ...price }),
  effects: CHANGES,
  role: 'editor',
  async run({ caller, routes, spending }, { keyword, estimate_token: token }) {
    const { accountId, by } = caller;
    routes.estimateTokens.check(accountId, keyword, token, systemClock.now(), true);
    const commandId = derivedId('mcp create', accountId, token ?? '');
    const isRepeated = await exists(() => routes.keywords.read(caller, commandId));
    const found = await estimateOf({ caller, routes }, keyword, isRepeated ? commandId : undefined);
    // The keyword of a repeated call can have been retired in the meantime. Then the estimate is refused, and the price
    // is 0.
    const priced = isRepeated && !found.valid ? FREE : estimateIn(found);
    const { monthlyCredits, firstScanCredits, startCredits } = priced;
    const credits = isRepeated ? 0 : creditsADay(monthlyCredits) + startCredits;
    const created = await spending.spendOnce(by, credits, commandId, () =>
      keywordOf(routes.keywordCreate.createKeyword(caller, commandId, keyword, token)),
    );
    return { keyword: created, monthly_credits: monthlyCredits, first_scan_credits: firstScanCredits };
  },
});

const change = tool({
  name: 'update_keyword',
  title: 'Change a keyword',
  description:
    'Changes the given fields of a keyword; null removes the value of a field. Searches whose criteria change start over (reset_searches). The answer contains the price before and after the change. These credits count towards the daily limit of the API key: the first check of each search that starts over or is enabled again; the first check, or the first scan, of each new search; and one thirtieth of the credits by which the monthly price rises. If the estimate of a change is refused, the change is not made.',
  input: z.strictObject({
    id: keywordId,
    changes: z.looseObject({}).describe('Fields of the keyword, in snake_case or camelCase'),
  }),
  output: z.object({
    keyword: z.looseObject({ id: z.string(), name: z.string() }),
    reset_searches: z.array(z.looseObject({})),
    monthly_credits_before: z.number(),
    monthly_credits: z.number(),
  }),
  effects: { ...CHANGES, destructiveHint: true },
  role: 'editor',
  async run({ caller, routes, spending }, { id, changes }) {
    const before = await routes.keywords.read(caller, id);
    const found = await estimateOf({ caller, routes }, changes, id);
    const { monthlyCredits, startCredits } = estimateIn(found);
    const more = creditsADay(Math.max(0, monthlyCredits - before.monthlyCredits));
    const changed = await spending.spend(caller.by, more + startCredits, () =>
      routes.keywordChange.changeKeyword(caller, id, changes),
    );
    const { resetSearches, ...keyword } = changed;
    return {
      keyword: await keywordOf(Promise.resolve(keyword)),
      reset_searches: resetSearches,
      monthly_credits_before: before.monthlyCredits,
      monthly_credits: changed.monthlyCredits,
    };
  },
});

const state = z.object({
  id: z.string(),
  state: z.string(),
  paused_reason: z.string().nullable(),
  monthly_credits: z.number(),
});

const pause = tool({
  name: 'pause_keyword',
  title: 'Pause a keyword',
  description:
    'Stops the checks of a keyword, and their costs, until it is resumed. Keeps the mentions. Free.',
  input: z.strictObject({ id: keywordId }),
  output: state,
  effects: CHANGES,
  role: 'editor',
  async run({ caller, routes, commandId }, { id }) {
    return stateOf(await routes.keywordChange.pause(caller, commandId, id));
  },
});

const resume = tool({
  name: 'resume_keyword',
  title: 'Resume a keyword',
  description:
    'Starts the checks of a paused keyword again; they cost its monthly_credits. The keyword’s credits of one day, but at least the credits of one check of each search, count towards the daily limit of the API key.',
  input: z.strictObject({ id: keywordId }),
  output: state,
  effects: CHANGES,
  role: 'editor',
  async run({ caller, routes, spending, commandId }, { id }) {
    const { state: current } = await routes.keywords.read(caller, id);
    const credits = current === 'active' ? 0 : await resumeCredits({ caller, routes }, id);
    return spending.spend(caller.by, credits, async () =>
      stateOf(await routes.keywordChange.resume(caller, commandId, id)),
    );
  },
});

const remove = tool({
  name: 'delete_keyword',
  title: 'Delete a keyword',
  description:
    'Retires a keyword: checks stop, mentions and events stay readable. With purge: true, deletes the keyword, its mentions and events from every store; nobody can restore them. Ask the user before you purge. Free.',
  input: z.strictObject({
    id: keywordId,
    purge: z.boolean().optional().describe('true deletes everything permanently. Default: false'),
  }),
  output: z.object({ id: z.string(), outcome: z.enum(['retired', 'purged']) }),
  effects: { ...CHANGES, destructiveHint: true },
  role: 'editor',
  async run({ caller, routes }, { id, purge = false }) {
    await routes.keywordChange.remove(caller, id, purge ? { purge: 'true' } : {});
    return { id, outcome: purge ? ('purged' as const) : ('retired' as const) };
  },
});

const backtest = tool({
  name: 'backtest_rules',
  title: 'Test rules on the past',
  description:
    'Shows what rules, mutes, VIPs, a spike alert or a relevance limit would have done with the stored mentions of a keyword, up to 90 days back. Changes nothing. Free.',
  input: z.strictObject({
    id: keywordId,
    rules: z.array(z.looseObject({})).optional(),
    mute_rules: z.array(z.unknown()).optional(),
    vip_authors: z.array(z.unknown()).optional(),
    spike_alert: z.enum(['low', 'medium', 'high']).nullable().optional(),
    min_relevance: z.int().min(0).max(100).nullable().optional(),
    since: z.string().optional().describe('ISO 8601; default: 30 days ago'),
  }),
  output: z.looseObject({ id: z.string() }),
  effects: { ...READS, idempotentHint: false },
  role: 'editor',
  run({ caller, routes, commandId }, { id, ...given }) {
    return routes.backtests.backtestKeyword(caller, commandId, id, given);
  },
});

/** The tools that estimate and change keywords. */
export const keywordChangeTools: readonly McpTool[] = [
  estimate,
  create,
  change,
  pause,
  resume,
  remove,
  backtest,
];

function stateOf(keyword: {
  id: string;
  state: string;
  pausedReason: string | null;
  monthlyCredits: number;
}): z.input<typeof state> {
  return {
    id: keyword.id,
    state: keyword.state,
    paused_reason: keyword.pausedReason,
    monthly_credits: keyword.monthlyCredits,
  };
}

/**
 * Returns whether an earlier attempt of a create already created the keyword. The keyword has the id of the command.
 */
async function exists(read: () => Promise<unknown>): Promise<boolean> {
  try {
    await read();
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'not-found') return false;
    throw error;
  }
}
