import { Inject, Injectable } from '@nestjs/common';
import { selectRows, type ClickHouseClient, type EventRow, type MentionRow } from '#clickhouse';
import { CLICKHOUSE } from '#platform';
import { conditionsOf, type MentionFilter } from './mention-filter.js';
import { readPage, type TimeList, type TimePage } from './time-page.js';

const BY_EVENT = {
  time: 'occurred_at',
  id: 'toString(event_id)',
  idOf: (row: { event_id: string }) => row.event_id,
} as const;

/** Mentions by the time at which they were collected. */
export const MENTIONS: TimeList<MentionRow> = { table: 'mentions', ...BY_EVENT };
/** Events as they were stored. */
export const EVENTS: TimeList<EventRow> = { table: 'events', ...BY_EVENT };

/** Reads mentions and events from ClickHouse. A row that was written twice is read once. */
@Injectable()
export class MentionReads {
  constructor(@Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient) {}

  /** Mentions of the account, and a row more than the page has. */
  mentions(
    accountId: string,
    keywordId: string | undefined,
    filter: MentionFilter,
    page: TimePage,
  ): Promise<MentionRow[]> {
    const { sql, params } = conditionsOf(filter);
    const conditions = ['account_id = {accountId: UUID}', ...sql];
    if (keywordId) conditions.push('keyword_id = {keywordId: UUID}');
    const all = { accountId, ...(keywordId ? { keywordId } : {}), ...params };
    return readPage(this.clickhouse, MENTIONS, conditions, all, page);
  }

  async mention(accountId: string, id: string): Promise<MentionRow | undefined> {
    const rows = await selectRows<MentionRow>(
      this.clickhouse,
      'SELECT * FROM mentions WHERE account_id = {accountId: UUID} AND event_id = {id: UUID} LIMIT 1',
      { accountId, id },
    );
    return rows[0];
  }

  /** The stored envelopes of one watch, and a row more than the page has. */
  events(accountId: string, watchId: string, page: TimePage): Promise<EventRow[]> {
    const conditions = ['watch_id = {watchId: UUID}', 'account_id = {accountId: UUID}'];
    return readPage(this.clickhouse, EVENTS, conditions, { accountId, watchId }, page);
  }
}
