import type { Database } from '#postgres';

/** A gateway's lease of requests in an account's minute. */
export interface Lease {
  /** Start of the minute of the lease, in ms. */
  windowStart: number;
  /** Number of leased requests. Fewer than wanted if fewer are left in the minute; 0 if none are left. */
  granted: number;
  /** Number of requests of the minute that are used or leased, in all gateways together. */
  used: number;
}

/** Leased requests of an account's minute that were not used, and are given back. */
export interface Unspent {
  accountId: string;
  /** In ms. */
  windowStart: number;
  requests: number;
}

interface Row {
  window_start: Date;
  used: number;
  last_lease: number;
}

/**
 * Leases requests from a table that all gateways share. For each account, the table contains only the last minute in
 * which requests were leased, and their number.
 */
export class QuotaLeases {
  constructor(private readonly database: Database) {}

  /**
   * Leases up to `wanted` requests of the minute. One statement compares with the limit and leases the requests, so
   * that concurrent leases together do not exceed the limit. If another gateway's clock has already begun the next
   * minute, the lease is for that minute.
   * @param windowStart start of the minute by the caller's clock, in ms
   */
  async take(accountId: string, windowStart: number, wanted: number, limit: number): Promise<Lease> {
    const joins = `q.window_start BETWEEN excluded.window_start AND excluded.window_start + interval '1 minute'`;
    const before = `CASE WHEN ${joins} THEN q.used ELSE 0 END`;
    const leased = `LEAST($3::integer, GREATEST(0, $4::integer - ${before}))`;
    const rows: Row[] = await this.database.query(
      `INSERT INTO request_quotas AS q (account_id, window_start, used, last_lease)
       VALUES ($1, $2, LEAST($3::integer, $4::integer), LEAST($3::integer, $4::integer))
       ON CONFLICT (account_id) DO UPDATE SET
         window_start = CASE WHEN ${joins} THEN q.window_start ELSE excluded.window_start END,
         used = ${before} + ${leased},
         last_lease = ${leased}
       RETURNING window_start, used, last_lease`,
      [accountId, new Date(windowStart), wanted, limit],
    );
    const row = rows[0] as Row;
    return { windowStart: row.window_start.getTime(), granted: row.last_lease, used: row.used };
  }

  /** Gives unused leased requests back; each account must occur only once. Requests of a past minute are dropped. */
  async giveBack(unspent: readonly Unspent[]): Promise<void> {
    // Every gateway locks the rows in the same order.
    const leases = unspent.toSorted((a, b) => (a.accountId < b.accountId ? -1 : 1));
    await this.database.query(
      `WITH back AS MATERIALIZED (
         SELECT q.account_id, b.requests FROM unnest($1::uuid[], $2::timestamptz[], $3::int[]) AS b (account_id, window_start, requests)
           JOIN request_quotas q USING (account_id, window_start) ORDER BY q.account_id FOR UPDATE OF q)
       UPDATE request_quotas q SET used = GREATEST(0, q.used - back.requests) FROM back WHERE q.account_id = back.account_id`,
      [
        leases.map(({ accountId }) => accountId),
        leases.map(({ windowStart }) => new Date(windowStart)),
        leases.map(({ requests }) => requests),
      ],
    );
  }
}
