import { Inject, Injectable } from '@nestjs/common';
import { isoFromClickHouse, NO_ID, selectRows, type ActivityRow, type ClickHouseClient } from '#clickhouse';
import { CLICKHOUSE } from '#platform';
import type { Position } from './mention-reads.js';

/** One line of a keyword's activity, as the interface writes it. */
export interface ActivityRecord {
  id: string;
  source: string;
  type: string;
  occurredAt: string;
  watchId: string;
  eventsEmitted?: number;
  creditsCharged?: number;
  eventId?: string;
  statusCode?: number;
  message?: string;
}

/** Reads what a keyword did: checks and webhook attempts, newest first. */
@Injectable()
export class ActivityReads {
  constructor(@Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient) {}

  /** One more row than `limit`, so that the caller knows whether there is a next page. */
  async ofKeyword(
    accountId: string,
    keywordId: string,
    page: { since: Date; source: string | undefined; limit: number; after: Position | undefined },
  ): Promise<{ records: ActivityRecord[]; positions: Position[] }> {
    const conditions = [
      'account_id = {accountId: UUID}',
      'keyword_id = {keywordId: UUID}',
      `occurred_at >= {since: DateTime64(3, 'UTC')}`,
    ];
    if (page.source) conditions.push('source = {source: String}');
    if (page.after)
      conditions.push(`(occurred_at, toString(activity_id)) < ({at: DateTime64(3, 'UTC')}, {id: String})`);
    const rows = await selectRows<ActivityRow>(
      this.clickhouse,
      `SELECT * FROM activity WHERE ${conditions.join(' AND ')}
       ORDER BY occurred_at DESC, toString(activity_id) DESC LIMIT 1 BY activity_id LIMIT ${page.limit + 1}`,
      {
        accountId,
        keywordId,
        since: page.since.toISOString().replace('T', ' ').replace('Z', ''),
        ...(page.source ? { source: page.source } : {}),
        ...page.after,
      },
    );
    return {
      records: rows.map(recordOf),
      positions: rows.map((row) => ({ at: row.occurred_at, id: row.activity_id })),
    };
  }
}

function recordOf(row: ActivityRow): ActivityRecord {
  return {
    id: row.activity_id,
    source: row.source,
    type: row.type,
    occurredAt: isoFromClickHouse(row.occurred_at),
    watchId: row.watch_id,
    ...(row.events_emitted === null ? {} : { eventsEmitted: row.events_emitted }),
    ...(row.credits_charged === null ? {} : { creditsCharged: row.credits_charged }),
    ...(row.event_id === null || row.event_id === NO_ID ? {} : { eventId: row.event_id }),
    ...(row.status_code === null ? {} : { statusCode: row.status_code }),
    ...(row.message === '' ? {} : { message: row.message }),
  };
}
