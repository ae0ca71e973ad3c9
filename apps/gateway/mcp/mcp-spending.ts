import { Inject, Injectable } from '@nestjs/common';
import { Refusal } from '#kernel';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';

/** Injection token of `MCP_DAILY_CREDITS`. */
export const MCP_DAILY_CREDITS = Symbol('credits per key and day through MCP');

const TODAY = `(now() AT TIME ZONE 'UTC')::date`;

/**
 * What each API key spends through MCP in a UTC day, shared by all gateways. An agent that runs in circles stops at the
 * limit, and the account keeps its credits. The price of a keyword counts as its credits of one day.
 */
@Injectable()
export class McpSpending {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(MCP_DAILY_CREDITS) readonly limit: number,
  ) {}

  /**
   * Runs work that costs up to this many credits. What it does not cost is given back.
   * @param costOf the cost in credits, from the result. Default: the whole amount
   * @throws Refusal `not-covered` `MCP_SPEND_LIMIT` before the work begins
   */
  async spend<T>(
    keyId: string,
    credits: number,
    work: () => Promise<T>,
    costOf: (result: T) => number = () => credits,
  ): Promise<T> {
    const most = Math.ceil(credits);
    if (most <= 0) return work();
    const day = await this.reserve(keyId, most);
    let cost = 0;
    try {
      const result = await work();
      cost = Math.ceil(costOf(result));
      return result;
    } catch (error) {
      // Nobody knows whether work with an unknown outcome was charged.
      if (!(error instanceof Refusal)) cost = most;
      throw error;
    } finally {
      if (cost < most) await this.release(keyId, day, most - cost);
    }
  }

  async spentToday(keyId: string): Promise<number> {
    const [row]: { credits: number }[] = await this.database.query(
      `SELECT credits FROM mcp_spending WHERE key_id = $1 AND day = ${TODAY}`,
      [keyId],
    );
    return row?.credits ?? 0;
  }

  /** One statement decides, so that parallel calls cannot pass the limit together. @returns the day */
  private async reserve(keyId: string, credits: number): Promise<string> {
    const [row]: { day: string }[] = await this.database.query(
      `WITH old AS (DELETE FROM mcp_spending WHERE key_id = $1 AND day < ${TODAY} - 7)
       INSERT INTO mcp_spending AS spent (key_id, day, credits)
       SELECT $1, ${TODAY}, $2::bigint WHERE $2::bigint <= $3::bigint
       ON CONFLICT (key_id, day) DO UPDATE SET credits = spent.credits + excluded.credits
         WHERE spent.credits + excluded.credits <= $3::bigint
       RETURNING day::text AS day`,
      [keyId, credits, this.limit],
    );
    if (row) return row.day;
    const spent = await this.spentToday(keyId);
    throw new Refusal(
      'not-covered',
      'MCP_SPEND_LIMIT',
      `this needs up to ${credits} credits, and this API key has spent ${spent} of its ${this.limit} credits of today through MCP; the day ends at 00:00 UTC (setting MCP_DAILY_CREDITS)`,
    );
  }

  private async release(keyId: string, day: string, credits: number): Promise<void> {
    await this.database.query(
      'UPDATE mcp_spending SET credits = greatest(0, credits - $3::bigint) WHERE key_id = $1 AND day = $2::date',
      [keyId, day, credits],
    );
  }
}
