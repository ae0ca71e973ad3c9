import { Inject, Injectable } from '@nestjs/common';
import { derivedId, Refusal } from '#kernel';
import { DATABASE } from '#platform';
import type { Database, Tx } from '#postgres';
import type { CallingKey } from '../auth/api-keys.js';

/** Injection token of `MCP_DAILY_CREDITS`. */
export const MCP_DAILY_CREDITS = Symbol('credits per key and day through MCP');

const TODAY = `(now() AT TIME ZONE 'UTC')::date`;
const KEPT_DAYS = 7;

/** A call that changes something. All calls with the same id are counted only once. */
interface CountedCommand {
  day: string;
  credits: number;
  /** Number of calls that are running. */
  calls: number;
  has_effect: boolean;
}

/**
 * Counts what each API key spends through MCP in a UTC day, over all gateways, and limits this amount. The limit
 * protects the account's credits from an agent that repeats calls without end. A new keyword counts with its credits of
 * one day and the credits of its first checks or scans.
 */
@Injectable()
export class McpSpending {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(MCP_DAILY_CREDITS) private readonly defaultLimit: number,
  ) {}

  /** Returns the maximum number of credits that the key can spend in a day. */
  limitOf({ mcpDailyCredits }: CallingKey): number {
    return mcpDailyCredits ?? this.defaultLimit;
  }

  /**
   * Runs work that costs up to this many credits. The unused part is released. If the work is refused, all credits
   * are released. After `unavailable` or another error, none are released. Work without a cost is not counted.
   * @param costOf the cost in credits, from the result. Default: the whole amount
   * @throws Refusal `not-covered` `MCP_SPEND_LIMIT` before the work begins
   */
  async spend<T>(
    key: CallingKey,
    credits: number,
    work: () => Promise<T>,
    costOf: (result: T) => number = () => credits,
  ): Promise<T> {
    const max = Math.ceil(credits);
    if (max <= 0) return work();
    const day = await this.reserve(this.database.manager, key, max);
    // If the outcome of the work is unknown, the account was possibly charged, so the credits stay counted.
    let cost = max;
    try {
      const result = await work();
      cost = Math.ceil(costOf(result));
      return result;
    } catch (error) {
      if (isRefusal(error)) cost = 0;
      throw error;
    } finally {
      if (cost < max) await this.release(this.database.manager, key.id, day, max - cost);
    }
  }

  /**
   * Runs a command that costs this many credits. Calls with the same id, at the same time or up to seven days later,
   * are counted only one time. They are not counted if each of them was refused, and none of the refusals was
   * `unavailable`.
   * @throws Refusal `not-covered` `MCP_SPEND_LIMIT` before the work begins
   */
  async spendOnce<T>(
    key: CallingKey,
    credits: number,
    commandId: string,
    work: () => Promise<T>,
  ): Promise<T> {
    const max = Math.ceil(credits);
    if (max <= 0) return work();
    // The row does not contain the id of the created object, because a purge would then have to delete the row too.
    const id = derivedId('mcp spending', commandId);
    await this.begin(key, max, id);
    let isRefused = false;
    try {
      return await work();
    } catch (error) {
      isRefused = isRefusal(error);
      throw error;
    } finally {
      await this.end(id, isRefused);
    }
  }

  spentToday(keyId: string): Promise<number> {
    return spentToday(this.database.manager, keyId);
  }

  private async begin(key: CallingKey, credits: number, id: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      await tx.query(`DELETE FROM mcp_commands WHERE key_id = $1 AND day < ${TODAY} - ${KEPT_DAYS}`, [
        key.id,
      ]);
      const [known]: CountedCommand[] = await tx.query(
        `INSERT INTO mcp_commands AS known (command_id, key_id, day, credits, calls, has_effect)
         VALUES ($1, $2, ${TODAY}, $3, 1, false)
         ON CONFLICT (command_id) DO UPDATE SET calls = known.calls + 1
         RETURNING day::text AS day, credits, calls, has_effect`,
        [id, key.id, credits],
      );
      const isFirst = known?.calls === 1 && !known.has_effect;
      if (isFirst) await this.reserve(tx, key, credits);
    });
  }

  /** Ends a call. If no call with this id runs any more and all of them were refused, releases the credits. */
  private async end(id: string, isRefused: boolean): Promise<void> {
    await this.database.transaction(async (tx) => {
      const [[ended]]: [(CountedCommand & { key_id: string })[], number] = await tx.query(
        `UPDATE mcp_commands SET calls = calls - 1, has_effect = has_effect OR NOT $2 WHERE command_id = $1
         RETURNING key_id, day::text AS day, credits, calls, has_effect`,
        [id, isRefused],
      );
      if (!ended || ended.calls > 0 || ended.has_effect) return;
      await tx.query('DELETE FROM mcp_commands WHERE command_id = $1', [id]);
      // Two keys can send the same command. The key of the first call has reserved the credits.
      await this.release(tx, ended.key_id, ended.day, ended.credits);
    });
  }

  /**
   * Reserves credits within the limit. One statement compares and reserves, so that parallel calls cannot exceed the
   * limit together.
   * @returns the day
   */
  private async reserve(tx: Tx, key: CallingKey, credits: number): Promise<string> {
    const limit = this.limitOf(key);
    const [row]: { day: string }[] = await tx.query(
      `WITH old AS (DELETE FROM mcp_spending WHERE key_id = $1 AND day < ${TODAY} - ${KEPT_DAYS})
       INSERT INTO mcp_spending AS spent (key_id, day, credits)
       SELECT $1, ${TODAY}, $2::bigint WHERE $2::bigint <= $3::bigint
       ON CONFLICT (key_id, day) DO UPDATE SET credits = spent.credits + excluded.credits
         WHERE spent.credits + excluded.credits <= $3::bigint
       RETURNING day::text AS day`,
      [key.id, credits, limit],
    );
    if (row) return row.day;
    // If there is a transaction, this statement uses its connection. If callers held all connections and each waited
    // for a second one, they would block each other.
    const spent = await spentToday(tx, key.id);
    const setBy = key.mcpDailyCredits === null ? 'setting MCP_DAILY_CREDITS' : 'the limit of this key';
    throw new Refusal(
      'not-covered',
      'MCP_SPEND_LIMIT',
      `this call needs up to ${credits} credits, but this API key has already spent ${spent} of the ${limit} credits that it can spend through MCP today; the day ends at 00:00 UTC (${setBy})`,
    );
  }

  private async release(tx: Tx, keyId: string, day: string, credits: number): Promise<void> {
    await tx.query(
      'UPDATE mcp_spending SET credits = greatest(0, credits - $3::bigint) WHERE key_id = $1 AND day = $2::date',
      [keyId, day, credits],
    );
  }
}

async function spentToday(tx: Tx, keyId: string): Promise<number> {
  const [row]: { credits: number }[] = await tx.query(
    `SELECT credits FROM mcp_spending WHERE key_id = $1 AND day = ${TODAY}`,
    [keyId],
  );
  return row?.credits ?? 0;
}

/**
 * Returns whether the error shows that nothing was charged. After `unavailable`, the outcome can be unknown: the kind
 * does not tell a timeout from a service that certainly charged nothing.
 */
function isRefusal(error: unknown): boolean {
  return error instanceof Refusal && error.kind !== 'unavailable';
}
