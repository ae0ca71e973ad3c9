import { Inject, Injectable } from '@nestjs/common';
import { balanceOf, type Balance } from '#credits';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';

/** The sum of a period's charges for one source and operation. */
export interface Usage {
  source: string;
  operation: string;
  credits: number;
}

/** The properties by which usage can be grouped. */
export const USAGE_GROUPS = ['source', 'operation', 'keyword'] as const;
/** A property by which usage can be grouped. */
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** The credits that were charged on one UTC day. */
export interface DayUsage {
  /** Beginning of the day. */
  day: Date;
  /**
   * The value of the property by which the usage is grouped, for example the id of a keyword. Null if the usage is not
   * grouped, or if the charge has no such value: a lookup has no keyword.
   */
  group: string | null;
  credits: number;
}

/** The sums of a ledger, as the tables contain them now. */
export interface LedgerSums {
  balance: number;
  movements: number;
  sumOfMovements: number;
  /** Balance after the last movement; null if the ledger has no movement. */
  lastBalance: number | null;
  /** Charges of the current period, computed from `credit_movements`. */
  charged: number;
  /** Charges of the current period, computed from `credit_usage`. */
  usage: number;
}

/** The filter of a page of the ledger. A movement must match one value of each list that is not empty. */
export interface LedgerPage {
  kinds: string[];
  sources: string[];
  keywords: string[];
  since: Date | undefined;
  /** Exclusive. */
  until: Date | undefined;
  limit: number;
  /** Only movements before this position. */
  before: LedgerPosition | undefined;
}

/** A movement's position in its account's ledger. */
export interface LedgerPosition {
  seq: number;
  place: number;
}

/** A row of `credit_movements`. */
export interface MovementRow extends LedgerPosition {
  movement_id: string;
  at: Date;
  kind: string;
  amount: number;
  balance_after: number;
  operation: string | null;
  source: string | null;
  keyword_id: string | null;
  watch_id: string | null;
  check_id: string | null;
  rate: number | null;
  units: number | null;
  price_book_version: string | null;
  reference: string;
}

/** Reads balances and movements of credits. */
@Injectable()
export class CreditReads {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /**
   * Returns the balance and the usage of the current period, read at the same moment; undefined until the account's
   * ledger is open.
   */
  balance(accountId: string): Promise<{ balance: Balance; usage: Usage[] } | undefined> {
    return this.database.transaction('REPEATABLE READ', async (tx) => {
      const balance = await balanceOf(tx, accountId);
      if (!balance) return undefined;
      const usage: Usage[] = await tx.query(
        `SELECT source, operation, credits FROM credit_usage WHERE account_id = $1 AND period_start = $2
         ORDER BY credits DESC, source, operation`,
        [accountId, balance.periodStart],
      );
      return { balance, usage };
    });
  }

  /**
   * Returns movements, newest first. Returns up to one more than `limit`, so that the caller knows whether there is a
   * next page.
   */
  async movements(accountId: string, page: LedgerPage): Promise<MovementRow[]> {
    const [kinds, sources] = [[...new Set(page.kinds)], [...new Set(page.sources)]];
    // Only charges have a source. So a filter with sources finds nothing if its kinds do not include `charge`.
    if (sources.length > 0 && kinds.length > 0 && !kinds.includes('charge')) return [];
    const values: unknown[] = [accountId];
    const parameter = (value: unknown) => `$${values.push(value)}`;
    const common = [...commonConditions(page, parameter), ...(await this.span(accountId, page, parameter))];
    // The database indexes order the movements of one kind or of one source. So each kind or source needs a separate
    // select, and the results are merged.
    const bySource = sources.length > 0 ? sources.map((one) => `source = ${parameter(one)}`) : undefined;
    const branches = bySource ?? (kinds.length > 0 ? kinds.map((one) => kindIs(one, parameter)) : ['true']);
    const orderAndLimit = `ORDER BY seq DESC, place DESC LIMIT ${parameter(page.limit + 1)}`;
    const selects = branches.map(
      (branch) =>
        `(SELECT * FROM credit_movements WHERE ${['account_id = $1', ...common, branch].join(' AND ')} ${orderAndLimit})`,
    );
    return this.database.query(
      `SELECT * FROM (${selects.join(' UNION ALL ')}) AS m ${orderAndLimit}`,
      values,
    );
  }

  /** Returns the charges of each day that has charges from `since` to `until` (exclusive), ordered by day. */
  usage(
    accountId: string,
    { since, until, group }: { since: Date; until: Date; group: UsageGroup | undefined },
  ): Promise<DayUsage[]> {
    return this.database.query(
      `SELECT date_trunc('day', at, 'UTC') AS day, ${group ? GROUP_COLUMNS[group] : 'NULL'} AS "group",
         (-sum(amount))::bigint AS credits
       FROM credit_movements
       WHERE account_id = $1 AND kind = 'charge' AND at >= $2 AND at < $3
       GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2`,
      [accountId, since, until],
    );
  }

  /**
   * Returns sums for an audit, read at the same moment. The balance must be the sum of the movements and the last balance,
   * and the charges must be the usage. Undefined until the account's ledger is open.
   */
  async sums(accountId: string): Promise<LedgerSums | undefined> {
    const [row] = await this.database.query<LedgerSums[]>(
      `SELECT b.balance, m.movements, m.sum AS "sumOfMovements", l.balance_after AS "lastBalance", m.charged, u.usage
       FROM credit_balances b,
         -- The renewal that began the period. Positions are compared, and not times: a later charge can have an earlier
         -- time, if the clock of the replica that wrote it is slow.
         LATERAL (
           SELECT seq, place FROM credit_movements WHERE account_id = b.account_id AND kind = 'renewal'
           ORDER BY seq DESC, place DESC LIMIT 1
         ) r,
         LATERAL (
           SELECT count(*)::bigint AS movements, coalesce(sum(amount), 0)::bigint AS sum,
             coalesce(-sum(amount) FILTER (WHERE kind = 'charge' AND (seq, place) > (r.seq, r.place)), 0)::bigint AS charged
           FROM credit_movements WHERE account_id = b.account_id
         ) m
         LEFT JOIN LATERAL (
           SELECT balance_after FROM credit_movements WHERE account_id = b.account_id
           ORDER BY seq DESC, place DESC LIMIT 1
         ) l ON true,
         LATERAL (
           SELECT coalesce(sum(credits), 0)::bigint AS usage FROM credit_usage
           WHERE account_id = b.account_id AND period_start = b.period_start
         ) u
       WHERE b.account_id = $1`,
      [accountId],
    );
    return row;
  }

  /**
   * Returns conditions on the time, and also on the ledger's sequence. With the condition on the sequence, Postgres can use
   * the indexes, which are in its order. The clocks of the replicas that write movements can differ, so the span of
   * sequences is longer than the span of times by this difference.
   */
  private async span(
    accountId: string,
    { since, until }: LedgerPage,
    parameter: (value: unknown) => string,
  ): Promise<string[]> {
    const conditions: string[] = [];
    if (since) {
      const before: { seq: number }[] = await this.database.query(
        `SELECT seq FROM credit_movements WHERE account_id = $1 AND at < $2
         ORDER BY at DESC, seq DESC LIMIT 1`,
        [accountId, new Date(since.getTime() - CLOCKS_APART_MS)],
      );
      conditions.push(`at >= ${parameter(since)}`);
      if (before[0]) conditions.push(`seq > ${parameter(before[0].seq)}`);
    }
    if (until) {
      const after: { seq: number }[] = await this.database.query(
        `SELECT seq FROM credit_movements WHERE account_id = $1 AND at >= $2 ORDER BY at, seq LIMIT 1`,
        [accountId, new Date(until.getTime() + CLOCKS_APART_MS)],
      );
      conditions.push(`at < ${parameter(until)}`);
      if (after[0]) conditions.push(`seq < ${parameter(after[0].seq)}`);
    }
    return conditions;
  }
}

const GROUP_COLUMNS: Record<UsageGroup, string> = {
  source: `NULLIF(source, '')`,
  operation: 'operation',
  keyword: 'keyword_id::text',
};

/** The assumed maximum difference between the clocks of billing's replicas. */
const CLOCKS_APART_MS = 60_000;

function commonConditions(
  { sources, kinds, keywords, before }: LedgerPage,
  parameter: (value: unknown) => string,
): string[] {
  const conditions: string[] = [];
  if (sources.length > 0 && kinds.length > 0) conditions.push(`kind = ANY(${parameter(kinds)})`);
  if (keywords.length > 0) conditions.push(`keyword_id = ANY(${parameter(keywords)}::uuid[])`);
  if (before) conditions.push(`(seq, place) < (${parameter(before.seq)}, ${parameter(before.place)})`);
  return conditions;
}

/**
 * Returns the condition for one kind. The database index of kinds is partial (`kind <> 'charge'`). Postgres uses this index
 * only if the query repeats its condition.
 */
function kindIs(kind: string, parameter: (value: unknown) => string): string {
  const condition = `kind = ${parameter(kind)}`;
  return kind === 'charge' ? condition : `${condition} AND kind <> 'charge'`;
}
