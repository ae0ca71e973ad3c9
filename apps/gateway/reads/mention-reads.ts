import { Inject, Injectable } from '@nestjs/common';
import {
  isoFromClickHouse,
  selectRows,
  type ClickHouseClient,
  type EventRow,
  type MentionRow,
} from '#clickhouse';
import { CLICKHOUSE } from '#platform';
import { conditionsOf, type MentionFilter } from './mention-filter.js';

/** Where a page ends: the last row's time (as ClickHouse writes it) and id. */
export interface Position {
  at: string;
  id: string;
}

/** One page of a list by time. */
export interface TimePage {
  since: Date;
  until: Date | undefined;
  order: 'asc' | 'desc';
  limit: number;
  after: Position | undefined;
}

/** Reads mentions and events from ClickHouse. A row that was written twice is read once. */
@Injectable()
export class MentionReads {
  constructor(@Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient) {}

  /** Mentions of the account; one more than `limit`, so that the caller knows whether there is a next page. */
  async mentions(
    accountId: string,
    keywordId: string | undefined,
    filter: MentionFilter,
    page: TimePage,
  ): Promise<MentionRow[]> {
    const { sql, params } = conditionsOf(filter);
    const time = timeConditions(page);
    const conditions = ['account_id = {accountId: UUID}', ...time.sql, ...sql];
    if (keywordId) conditions.push('keyword_id = {keywordId: UUID}');
    return selectRows<MentionRow>(
      this.clickhouse,
      `SELECT * FROM mentions WHERE ${conditions.join(' AND ')} ${pageClause(page)}`,
      { accountId, ...(keywordId ? { keywordId } : {}), ...params, ...time.params },
    );
  }

  async mention(accountId: string, id: string): Promise<MentionRow | undefined> {
    const rows = await selectRows<MentionRow>(
      this.clickhouse,
      'SELECT * FROM mentions WHERE account_id = {accountId: UUID} AND event_id = {id: UUID} LIMIT 1',
      { accountId, id },
    );
    return rows[0];
  }

  /** The stored envelopes of one watch, oldest first. */
  async events(accountId: string, watchId: string, page: TimePage): Promise<EventRow[]> {
    const time = timeConditions(page);
    const conditions = ['watch_id = {watchId: UUID}', 'account_id = {accountId: UUID}', ...time.sql];
    return selectRows<EventRow>(
      this.clickhouse,
      `SELECT * FROM events WHERE ${conditions.join(' AND ')} ${pageClause(page)}`,
      { accountId, watchId, ...time.params },
    );
  }
}

/** The position after a row. */
export function positionAfter(row: { occurred_at: string; event_id: string }): Position {
  return { at: row.occurred_at, id: row.event_id };
}

/** ISO 8601 of a row's time. */
export function isoOfColumn(text: string | null): string | null {
  return text === null ? null : isoFromClickHouse(text);
}

function timeConditions({ since, until, order, after }: TimePage): {
  sql: string[];
  params: Record<string, unknown>;
} {
  const sql = [`occurred_at >= {since: DateTime64(3, 'UTC')}`];
  const params: Record<string, unknown> = { since: clickHouseTime(since) };
  if (until) {
    sql.push(`occurred_at < {until: DateTime64(3, 'UTC')}`);
    params.until = clickHouseTime(until);
  }
  if (after) {
    const beyond = order === 'desc' ? '<' : '>';
    // The first comparison is on the key alone, so that the page begins where it begins and not at the newest row.
    sql.push(
      `occurred_at ${beyond}= {afterAt: DateTime64(3, 'UTC')}`,
      `(occurred_at, toString(event_id)) ${beyond} ({afterAt: DateTime64(3, 'UTC')}, {afterId: String})`,
    );
    params.afterAt = after.at;
    params.afterId = after.id;
  }
  return { sql, params };
}

function pageClause({ order, limit }: TimePage): string {
  const direction = order === 'desc' ? 'DESC' : 'ASC';
  return `ORDER BY occurred_at ${direction}, toString(event_id) ${direction} LIMIT 1 BY event_id LIMIT ${limit + 1}`;
}

function clickHouseTime(at: Date): string {
  return at.toISOString().replace('T', ' ').replace('Z', '');
}
