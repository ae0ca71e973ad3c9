import type { Database } from '#postgres';

/** How long a request counts as running after its gateway was last heard of. */
const RUNNING_MS = 15_000;
/** How long an outcome is kept, and a request that came to none. */
const KEPT_MS = 24 * 3_600_000;
const SWEEP_ROWS = 5000;

/** One request under its key. */
export interface KeyedRequest {
  accountId: string;
  key: string;
  /** SHA-256 of everything that makes it another request. */
  hash: Buffer;
  /** Who runs it: an id of this one attempt. */
  runner: string;
}

/** What was answered under a key. */
export interface Outcome {
  status: number;
  body: string;
}

/** The outcome of a request with a key. */
export type Claim =
  /** `repeats`: another attempt at the same command went before, and may have had its effect. */
  | { kind: 'run'; commandId: string; repeats: boolean }
  | { kind: 'replay'; outcome: Outcome }
  | { kind: 'in-progress' }
  | { kind: 'reused' };

interface Row {
  same: boolean;
  status: number | null;
  body: string | null;
}

/** What is known of requests with an `Idempotency-Key`, at all gateways together. Times are the caller's, in ms. */
export class IdempotencyRecords {
  constructor(private readonly database: Database) {}

  /**
   * Claims the key. One of any number that ask at once runs; so does one that finds the same request without an outcome
   * and nobody who runs it, and it gets that request's command: part of its effect may have come about.
   * @param newCommandId the command of a request that is new
   */
  async claim(request: KeyedRequest, newCommandId: string, now: number): Promise<Claim> {
    for (;;) {
      const commandId = await this.tryToRun(request, newCommandId, now);
      if (commandId !== undefined) return { kind: 'run', commandId, repeats: commandId !== newCommandId };
      const rows: Row[] = await this.database.query(
        `SELECT request_hash = $3 AS same, status, body FROM idempotency_records WHERE account_id = $1 AND key = $2`,
        [request.accountId, request.key, request.hash],
      );
      const [row] = rows;
      // Its outcome was not one to keep, and it went between the two statements.
      if (!row) continue;
      if (!row.same) return { kind: 'reused' };
      if (row.status === null) return { kind: 'in-progress' };
      return { kind: 'replay', outcome: { status: row.status, body: row.body ?? '' } };
    }
  }

  private async tryToRun(
    { accountId, key, hash, runner }: KeyedRequest,
    newCommandId: string,
    now: number,
  ): Promise<string | undefined> {
    const rows: { command_id: string }[] = await this.database.query(
      `INSERT INTO idempotency_records AS r
         (account_id, key, request_hash, command_id, runner, running_until, created_at, expires_at)
       VALUES ($1, $2, $3, $4, $5, $7, $6, $8)
       ON CONFLICT (account_id, key) DO UPDATE SET
         command_id = CASE WHEN r.expires_at <= $6 THEN excluded.command_id ELSE r.command_id END,
         request_hash = excluded.request_hash,
         runner = excluded.runner,
         running_until = excluded.running_until,
         status = NULL,
         body = NULL,
         created_at = excluded.created_at,
         expires_at = excluded.expires_at
       WHERE r.expires_at <= $6
          OR (r.request_hash = excluded.request_hash AND r.status IS NULL
              AND (r.running_until IS NULL OR r.running_until <= $6))
       RETURNING command_id`,
      [
        accountId,
        key,
        hash,
        newCommandId,
        runner,
        new Date(now),
        new Date(now + RUNNING_MS),
        new Date(now + KEPT_MS),
      ],
    );
    return rows[0]?.command_id;
  }

  /** Says that the request still runs. */
  async renew({ accountId, key, runner }: KeyedRequest, now: number): Promise<void> {
    await this.database.query(
      `UPDATE idempotency_records SET running_until = $4
       WHERE account_id = $1 AND key = $2 AND runner = $3 AND status IS NULL`,
      [accountId, key, runner, new Date(now + RUNNING_MS)],
    );
  }

  /** Keeps an outcome: from now on it is the answer. */
  async keep({ accountId, key, runner }: KeyedRequest, { status, body }: Outcome): Promise<void> {
    await this.database.query(
      `UPDATE idempotency_records SET status = $4, body = $5, running_until = NULL
       WHERE account_id = $1 AND key = $2 AND runner = $3`,
      [accountId, key, runner, status, body],
    );
  }

  /** Leaves a request without an outcome: a repetition runs it again, as the same command. */
  async leave({ accountId, key, runner }: KeyedRequest): Promise<void> {
    await this.database.query(
      `UPDATE idempotency_records SET running_until = NULL WHERE account_id = $1 AND key = $2 AND runner = $3`,
      [accountId, key, runner],
    );
  }

  /** Forgets a request that had no effect: the key is free. */
  async forget({ accountId, key, runner }: KeyedRequest): Promise<void> {
    await this.database.query(
      `DELETE FROM idempotency_records WHERE account_id = $1 AND key = $2 AND runner = $3`,
      [accountId, key, runner],
    );
  }

  /**
   * Forgets what was answered about a purged keyword. The answers that name it become 404, and their keys stay used. An
   * estimate does not name it: every estimate of the account is deleted, and is made again when it is asked for again.
   */
  async forgetKeyword(accountId: string, keywordId: string): Promise<void> {
    await this.database.query(
      `UPDATE idempotency_records SET status = 404, body = $3
       WHERE account_id = $1 AND strpos(body, $2) > 0`,
      [accountId, keywordId, JSON.stringify({ error: 'keyword not found', code: 'NOT_FOUND' })],
    );
    await this.database.query(
      `DELETE FROM idempotency_records WHERE account_id = $1 AND strpos(body, '"estimateToken"') > 0`,
      [accountId],
    );
  }

  /** Deletes some of what has expired. @returns whether there may be more */
  async sweep(now: number): Promise<boolean> {
    const [, deleted]: [unknown, number] = await this.database.query(
      `DELETE FROM idempotency_records WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM idempotency_records WHERE expires_at <= $1
         LIMIT ${SWEEP_ROWS} FOR UPDATE SKIP LOCKED))`,
      [new Date(now)],
    );
    return deleted === SWEEP_ROWS;
  }
}
