import { deleteInParts, type Database } from '#postgres';

/** How long a request counts as running after its gateway last renewed the record. */
const RUNNING_MS = 15_000;
/** How long a record is kept after the last attempt began, with or without an outcome. */
const KEPT_MS = 24 * 3_600_000;

/** One request with its key. */
export interface KeyedRequest {
  accountId: string;
  key: string;
  /** SHA-256 of everything that must be equal when this request is repeated. */
  hash: Buffer;
  /** The id of this attempt. */
  runner: string;
}

/** The response to a request with a key. */
export interface Outcome {
  status: number;
  body: string;
}

/** The result of claiming a key. */
export type Claim =
  /** `repeats`: an earlier attempt at the same command exists, and can have had its effect. */
  | { kind: 'run'; commandId: string; repeats: boolean }
  | { kind: 'replay'; outcome: Outcome }
  | { kind: 'in-progress' }
  | { kind: 'reused' };

interface Row {
  same: boolean;
  status: number | null;
  body: string | null;
}

/**
 * Stores the records of requests with an `Idempotency-Key`. All gateways share the records. The caller passes the
 * current time, in ms. `renew`, `keep`, `leave` and `forget` do nothing if another attempt has claimed the key
 * meanwhile.
 */
export class IdempotencyRecords {
  constructor(private readonly database: Database) {}

  /**
   * Claims the key. If several requests claim it at the same time, one of them runs. A repeated request also runs if
   * the earlier attempt has no outcome and no gateway runs that attempt. The repeated request then gets the id of the
   * recorded command, because that command can have had a part of its effect.
   * @param newCommandId the id of the command if the request is new
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
      // The record was deleted between the two statements, for example because the request had no effect.
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

  /** Records that the request is still running. */
  async renew({ accountId, key, runner }: KeyedRequest, now: number): Promise<void> {
    await this.database.query(
      `UPDATE idempotency_records SET running_until = $4
       WHERE account_id = $1 AND key = $2 AND runner = $3 AND status IS NULL`,
      [accountId, key, runner, new Date(now + RUNNING_MS)],
    );
  }

  /**
   * Stores the outcome, which repetitions of the request receive. If keywords of the account were purged while the
   * request ran, stores only what `forgetKeywords` would leave, because `forgetKeywords` has possibly run already. The
   * 10 s are for a difference between the clocks of the gateway and of Postgres. If a purge begins between the two
   * statements, the second pass of the purge, 20 s later, finds the stored outcome.
   */
  async keep({ accountId, key, runner }: KeyedRequest, outcome: Outcome): Promise<void> {
    const purged: { id: string }[] = await this.database.query(
      `SELECT k.keyword_id AS id FROM purged_keywords k JOIN idempotency_records r USING (account_id)
       WHERE r.account_id = $1 AND r.key = $2 AND k.purged_at >= r.created_at - interval '10 seconds'`,
      [accountId, key],
    );
    const left = leftOf(
      outcome,
      purged.map(({ id }) => id),
    );
    await this.database.query(
      `UPDATE idempotency_records SET status = $4, body = $5, running_until = NULL
       WHERE account_id = $1 AND key = $2 AND runner = $3`,
      [accountId, key, runner, left?.status ?? null, left?.body ?? null],
    );
  }

  /** Ends a request without an outcome: a repeated request runs it again as the same command. */
  async leave({ accountId, key, runner }: KeyedRequest): Promise<void> {
    await this.database.query(
      `UPDATE idempotency_records SET running_until = NULL WHERE account_id = $1 AND key = $2 AND runner = $3`,
      [accountId, key, runner],
    );
  }

  /** Deletes the record of a request that had no effect, so that the key can be used for another request. */
  async forget({ accountId, key, runner }: KeyedRequest): Promise<void> {
    await this.database.query(
      `DELETE FROM idempotency_records WHERE account_id = $1 AND key = $2 AND runner = $3`,
      [accountId, key, runner],
    );
  }

  /**
   * Removes stored responses about purged keywords. A response that contains the id of a purged keyword becomes a 404,
   * and its `Idempotency-Key` stays used. Estimates do not contain the id, so every estimate of the account is deleted;
   * a repeated request computes a new estimate. The other responses without the id (`KEYWORD_TEXTS`) are removed too: a
   * repeated request runs again as the same command, so it has no second effect and no second charge. The answer of a
   * resend stays stored, because the repeated command would send the event again. Only its webhook address is removed.
   */
  async forgetKeywords(accountId: string, keywordIds: readonly string[]): Promise<void> {
    await this.database.query(
      `UPDATE idempotency_records SET status = 404, body = $3
       WHERE account_id = $1 AND EXISTS (SELECT 1 FROM unnest($2::text[]) AS k (id) WHERE strpos(body, k.id) > 0)`,
      [accountId, keywordIds, PURGED.body],
    );
    await this.database.query(
      `DELETE FROM idempotency_records WHERE account_id = $1 AND strpos(body, $2) > 0`,
      [accountId, ESTIMATE],
    );
    await this.database.query(
      `UPDATE idempotency_records SET status = NULL, body = NULL, running_until = NULL
       WHERE account_id = $1 AND EXISTS (SELECT 1 FROM unnest($2::text[]) AS t (text) WHERE strpos(body, t.text) > 0)`,
      [accountId, KEYWORD_TEXTS],
    );
    await this.database.query(
      `UPDATE idempotency_records SET body = regexp_replace(body, $2, '"endpoint":""')
       WHERE account_id = $1 AND strpos(body, '"endpoint":') > 0`,
      [accountId, ENDPOINT],
    );
  }

  /** Deletes expired records. */
  deleteOld(now: number): Promise<void> {
    return deleteInParts(this.database, 'idempotency_records', 's.expires_at <= $1', [new Date(now)]);
  }
}

/**
 * Texts that identify responses with texts of a keyword or of its mentions, but without the keyword's id: analyses of
 * mentions, backtests, and the responses of MCP tools.
 */
const KEYWORD_TEXTS = ['"mentionId', '"byRule"', '"jsonrpc"'];
/** A text that identifies the responses of estimates. */
const ESTIMATE = '"estimateToken"';
/** The response of a request about a purged keyword. */
const PURGED: Outcome = {
  status: 404,
  body: JSON.stringify({ error: 'keyword not found', code: 'NOT_FOUND' }),
};
/** A regular expression, for Postgres too: the address in the answer of a resend. */
const ENDPOINT = String.raw`"endpoint":"([^"\\]|\\.)*"`;

/** Returns the part of an outcome that may be stored if these keywords were purged; undefined if there is none. */
function leftOf({ status, body }: Outcome, keywordIds: readonly string[]): Outcome | undefined {
  if (keywordIds.length === 0) return { status, body };
  if (keywordIds.some((id) => body.includes(id))) return PURGED;
  if ([ESTIMATE, ...KEYWORD_TEXTS].some((text) => body.includes(text))) return undefined;
  return { status, body: body.replace(new RegExp(ENDPOINT), '"endpoint":""') };
}
