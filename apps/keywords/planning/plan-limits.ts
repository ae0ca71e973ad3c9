import { floorSeconds, limitsOf, PLANS, type SourceId } from '#contracts';
import { Refusal, type Fault } from '#kernel';
import type { Tx } from '#postgres';
import type { PlannedSearch } from './planned-searches.js';

/**
 * An account's plan, and what the account uses of the plan. Keywords and watches that are paused because they exceed
 * the plan are not counted.
 */
export interface PlanUse {
  plan: string;
  keywords: number;
  /** Watched searches: the enabled searches of keywords, and watches without a keyword. */
  searchSlots: number;
}

/** Plans without a limit of keywords and searches. */
const UNLIMITED_PLANS = PLANS.filter((plan) => {
  const { keywords, searchSlots } = limitsOf(plan);
  return keywords === null && searchSlots === null;
});

/**
 * Returns the account's plan and its use.
 * @param exceptId the keyword or watch that changes, which is not counted
 * @param counted `limited`: counts nothing and returns 0 if the plan has no limit, because counting could then be
 *   expensive; `all`: always counts
 * @throws Refusal `not-found` if there is no such account
 */
export async function planUseOf(
  tx: Tx,
  accountId: string,
  exceptId: string | null = null,
  counted: 'limited' | 'all' = 'limited',
): Promise<PlanUse> {
  const rows: { plan: string; keywords: number; slots: number }[] = await tx.query(
    // Few watches are paused because of the plan. So the statement counts all watches and subtracts the paused watches.
    // This avoids a join over all rows.
    `SELECT a.plan,
       CASE WHEN a.plan = ANY ($3) THEN 0 ELSE
         (SELECT count(*)::int FROM keywords k WHERE k.account_id = $1 AND k.state <> 'retired'
          AND NOT 'plan' = ANY (k.pauses) AND k.keyword_id IS DISTINCT FROM $2) END AS keywords,
       CASE WHEN a.plan = ANY ($3) THEN 0 ELSE
         (SELECT count(*)::int FROM watches w WHERE w.account_id = $1 AND w.retired_at IS NULL AND NOT w.disabled
          AND COALESCE(w.keyword_id, w.watch_id) IS DISTINCT FROM $2 AND NOT 'plan' = ANY (w.pauses))
       - (SELECT count(*)::int FROM keywords k JOIN watches w USING (keyword_id)
          WHERE k.account_id = $1 AND 'plan' = ANY (k.pauses) AND k.keyword_id IS DISTINCT FROM $2
            AND w.retired_at IS NULL AND NOT w.disabled) END AS slots
     FROM accounts a WHERE a.account_id = $1`,
    [accountId, exceptId, counted === 'limited' ? UNLIMITED_PLANS : []],
  );
  const row = rows[0];
  if (!row) throw Refusal.notFound('account');
  return { plan: row.plan, keywords: row.keywords, searchSlots: row.slots };
}

/** An interval, and the path of the interval in the body. */
export interface GivenInterval {
  source: SourceId;
  seconds: number;
  path: string;
}

/**
 * Requires that the intervals are not below the plan's floors.
 * @param override a floor that replaces the plan's floors
 * @throws Refusal `invalid` `INTERVAL_TOO_LOW` that names the floors
 */
export function requireFloors(plan: string, intervals: readonly GivenInterval[], override?: number): void {
  const faults = intervals.flatMap(({ source, seconds, path }): Fault[] => {
    const floor = floorSeconds(plan, source, override);
    if (seconds >= floor) return [];
    return [
      {
        path,
        message: `${seconds} s is below the floor of ${floor} s for ${source} with the plan ${plan}`,
      },
    ];
  });
  const messages = faults.map(({ path, message }) => `${path}: ${message}`);
  if (faults.length > 0) throw new Refusal('invalid', 'INTERVAL_TOO_LOW', messages.join('; '), faults);
}

/**
 * Requires that each search has no more terms than the plan allows.
 * @throws Refusal `not-covered` `PLAN_LIMIT`
 */
export function requireTerms(
  plan: string,
  searches: readonly Pick<PlannedSearch, 'criteria' | 'path'>[],
): void {
  const { termsPerSearch } = limitsOf(plan);
  const faults = searches
    .filter(({ criteria }) => criteria.terms.length > termsPerSearch)
    .map(({ criteria, path }) => ({
      path: `${path}.terms`,
      message: `has ${criteria.terms.length} terms, but the plan ${plan} allows ${termsPerSearch} terms per search`,
    }));
  const first = faults[0];
  if (first)
    throw new Refusal('not-covered', 'PLAN_LIMIT', `${first.path}: ${first.message}`, unique(faults));
}

/**
 * Requires that the plan allows additional keywords and search slots.
 * @param more the keywords and search slots that the request adds
 * @param searchesPath path of the searches in the body; empty if the body contains no searches
 * @throws Refusal `not-covered` `PLAN_LIMIT` that names the limit
 */
export function requireRoom(
  use: PlanUse,
  more: { keywords: number; searchSlots: number },
  searchesPath: 'sources' | '' = '',
): void {
  const limits = limitsOf(use.plan);
  const limit = (what: string, path: string, inUse: number, requested: number, allowed: number | null) => {
    if (allowed === null || requested === 0 || inUse + requested <= allowed) return;
    const message = `the plan ${use.plan} allows ${allowed} ${what}; ${inUse} in use (including those that a user has paused), ${requested} more requested; delete some or change the plan`;
    throw new Refusal('not-covered', 'PLAN_LIMIT', message, [{ path, message }]);
  };
  limit('keywords', '', use.keywords, more.keywords, limits.keywords);
  limit('search slots', searchesPath, use.searchSlots, more.searchSlots, limits.searchSlots);
}

function unique(faults: readonly Fault[]): Fault[] {
  return [...new Map(faults.map((fault) => [fault.path, fault])).values()];
}
