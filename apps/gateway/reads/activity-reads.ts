import { Inject, Injectable } from '@nestjs/common';
import { isoFromClickHouse, NO_ID, type ActivityRow, type ClickHouseClient } from '#clickhouse';
import { CLICKHOUSE } from '#platform';
import { readPage, type TimeList, type TimePage } from './time-page.js';

/** One line of the activity of a keyword or a watch, as the API returns it. */
export interface ActivityRecord {
  id: string;
  /**
   * Null for an event of the keyword itself, for a delivery of such an event or of a digest, and for a disabled
   * endpoint or channel of the keyword. Then `watchId` is null too.
   */
  source: string | null;
  type: string;
  occurredAt: string;
  watchId: string | null;
  eventsEmitted?: number;
  creditsCharged?: number;
  eventId?: string;
  statusCode?: number;
  message?: string;
  /** Present only for an attempt to a channel, and for a disabled channel. */
  channelId?: string;
  /** Present if `channelId` is present. */
  channelKind?: string;
}

/**
 * Reads the activity of keywords and watches: checks, attempts to deliver, disabled endpoints and channels, and events
 * of the keyword itself.
 */
@Injectable()
export class ActivityReads {
  constructor(@Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient) {}

  /**
   * Returns a page of the keyword's activity, and one more row if there is a next page.
   * @param source only lines of this source; undefined: all lines
   */
  ofKeyword(
    accountId: string,
    keywordId: string,
    source: string | undefined,
    page: TimePage,
  ): Promise<ActivityRow[]> {
    const conditions = ['account_id = {accountId: UUID}', 'keyword_id = {keywordId: UUID}'];
    if (source) conditions.push('source = {source: String}');
    const params = { accountId, keywordId, ...(source ? { source } : {}) };
    return readPage(this.clickhouse, ACTIVITY, conditions, params, page);
  }

  /** Returns a page of the watch's activity, and one more row if there is a next page. */
  ofWatch(
    accountId: string,
    { watchId, keywordId }: { watchId: string; keywordId: string | null },
    page: TimePage,
  ): Promise<ActivityRow[]> {
    const conditions = [
      'account_id = {accountId: UUID}',
      // The table is ordered by keyword. The rows of a watch without a keyword have `NO_ID`.
      'keyword_id = {keywordId: UUID}',
      'watch_id = {watchId: UUID}',
    ];
    const params = { accountId, keywordId: keywordId ?? NO_ID, watchId };
    return readPage(this.clickhouse, ACTIVITY, conditions, params, page);
  }
}

/**
 * How the table `activity` is read as a list. The time of a row is the end of the check, or the time of the attempt or
 * event.
 */
export const ACTIVITY: TimeList<ActivityRow> = {
  table: 'activity',
  time: 'occurred_at',
  id: 'toString(activity_id)',
  idOf: (row) => row.activity_id,
};

/** Converts a row to a line of the API. */
export function activityRecord(row: ActivityRow): ActivityRecord {
  return {
    id: row.activity_id,
    source: row.source || null,
    type: row.type,
    occurredAt: isoFromClickHouse(row.occurred_at),
    watchId: row.source === '' ? null : row.watch_id,
    ...(row.events_emitted === null ? {} : { eventsEmitted: row.events_emitted }),
    ...(row.credits_charged === null ? {} : { creditsCharged: row.credits_charged }),
    ...(row.event_id === null || row.event_id === NO_ID ? {} : { eventId: row.event_id }),
    ...(row.status_code === null ? {} : { statusCode: row.status_code }),
    ...(row.message === '' ? {} : { message: row.message }),
    ...(row.channel_kind ? { channelId: row.channel_id, channelKind: row.channel_kind } : {}),
  };
}
