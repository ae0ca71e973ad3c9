import { Inject, Injectable } from '@nestjs/common';
import { NO_ID, selectRows, type ClickHouseClient, type EventRow, type MentionRow } from '#clickhouse';
import { CLICKHOUSE } from '#platform';
import { conditionsOf, type Conditions, type MentionFilter } from './mention-filter.js';
import { PurgedKeywords } from './purged-keywords.js';
import { clickHouseTime, readPage, type Position, type TimeList, type TimePage } from './time-page.js';

const BY_EVENT = {
  time: 'occurred_at',
  id: 'toString(event_id)',
  idOf: (row: { event_id: string }) => row.event_id,
} as const;

/** The list of mentions by the time at which Earshot found them. It contains the last version of each mention. */
export const MENTIONS: TimeList<MentionRow> = { table: 'mentions FINAL', ...BY_EVENT };
/** The list of stored events by the same time. */
export const EVENTS: TimeList<EventRow> = { table: 'events', ...BY_EVENT };

/** The lengths that a bucket of a series can have. */
export const SERIES_BUCKETS = ['hour', 'day'] as const;
/** The properties by which a series can be grouped. */
export const SERIES_GROUPS = ['source', 'sentiment', 'intent', 'keyword'] as const;

/** The window, bucket and group of a series. */
export interface SeriesRequest {
  since: Date;
  /** Exclusive. */
  until: Date;
  bucket: (typeof SERIES_BUCKETS)[number];
  group: (typeof SERIES_GROUPS)[number] | undefined;
}

/** An event whose mention a caller requests. */
export interface LiveEvent {
  eventId: string;
  /** ISO 8601 */
  occurredAt: string;
}

/** One bucket that contains mentions. */
export interface SeriesRow {
  /** Start of the bucket, in seconds since 1970. */
  at: number;
  /** Empty if the series is not grouped, or if the mentions have no value of the property. */
  group: string;
  count: number;
}

/** Fields whose most frequent values can be requested. */
export const TOP_FIELDS = ['author', 'community', 'term'] as const;
/** A field whose most frequent values can be requested. */
export type TopField = (typeof TOP_FIELDS)[number];

/** One value of a field, in one source. */
export interface TopRow {
  value: string;
  source: string;
  count: number;
}

const TOP_COLUMNS: Record<TopField, string> = {
  author: `ifNull(author, '')`,
  community: `ifNull(community, '')`,
  term: 'arrayJoin(matched_terms)',
};

const GROUP_COLUMNS = {
  source: 'source',
  sentiment: `if(corrected_sentiment != '', corrected_sentiment, sentiment)`,
  intent: `if(corrected_intent != '', corrected_intent, intent)`,
  keyword: `if(keyword_id = toUUID('${NO_ID}'), '', toString(keyword_id))`,
} as const;

/**
 * Reads mentions and events from ClickHouse. A row that was written twice is returned once. The mentions of purged
 * keywords are not returned.
 */
@Injectable()
export class MentionReads {
  constructor(
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
    private readonly purged: PurgedKeywords,
  ) {}

  /** Returns a page of the account's mentions, and one more row if there is a next page. */
  async mentions(
    accountId: string,
    keywordId: string | undefined,
    filter: MentionFilter,
    page: TimePage,
  ): Promise<MentionRow[]> {
    const { sql, params } = await this.conditions(accountId, filter, keywordId);
    return readPage(this.clickhouse, MENTIONS, sql, params, page);
  }

  async mention(accountId: string, id: string): Promise<MentionRow | undefined> {
    const { sql, params } = await this.conditions(accountId);
    const rows = await selectRows<MentionRow>(
      this.clickhouse,
      `SELECT * FROM mentions FINAL WHERE ${sql.join(' AND ')} AND event_id = {id: UUID} LIMIT 1`,
      { ...params, id },
    );
    return rows[0];
  }

  /**
   * Returns the stored mentions of these events, by the ids of the events; undefined for a mention that the filter
   * leaves out, or whose keyword was purged. Ids of events that are not stored are absent.
   * @param events at least one
   */
  async live(
    accountId: string,
    filter: MentionFilter,
    events: readonly LiveEvent[],
  ): Promise<Map<string, MentionRow | undefined>> {
    const { sql, params } = await this.conditions(accountId, filter);
    const times = events.map(({ occurredAt }) => Date.parse(occurredAt));
    const rows = await selectRows<MentionRow & { fits: boolean }>(
      this.clickhouse,
      `SELECT *, toBool(${sql.join(' AND ')}) AS fits FROM mentions FINAL
       WHERE account_id = {accountId: UUID} AND occurred_at >= {first: DateTime64(3, 'UTC')}
         AND occurred_at <= {last: DateTime64(3, 'UTC')} AND event_id IN {ids: Array(UUID)}`,
      {
        ...params,
        first: clickHouseTime(new Date(Math.min(...times))),
        last: clickHouseTime(new Date(Math.max(...times))),
        ids: events.map(({ eventId }) => eventId),
      },
    );
    return new Map(rows.map((row) => [row.event_id, row.fits ? row : undefined]));
  }

  /** Returns true if no account has a mention. */
  async isEmpty(): Promise<boolean> {
    return (await selectRows(this.clickhouse, 'SELECT 1 FROM mentions LIMIT 1')).length === 0;
  }

  /** Returns a page of the items that an Explore found, and one more row if there is a next page. */
  explored(accountId: string, exploreId: string, page: TimePage): Promise<MentionRow[]> {
    const conditions = ['account_id = {accountId: UUID}', 'explore_id = {exploreId: UUID}'];
    return readPage(this.clickhouse, MENTIONS, conditions, { accountId, exploreId }, page);
  }

  /** Returns the position of a mention in the list; undefined if the account has no such mention. */
  async positionOf(accountId: string, id: string): Promise<Position | undefined> {
    const row = await this.mention(accountId, id);
    return row && { at: row.occurred_at, id: row.event_id };
  }

  /** Returns the buckets that contain mentions, oldest first. */
  async series(accountId: string, filter: MentionFilter, series: SeriesRequest): Promise<SeriesRow[]> {
    const { sql, params } = await this.conditions(accountId, filter);
    const { bucket, group, since, until } = series;
    return selectRows<SeriesRow>(
      this.clickhouse,
      `SELECT toUnixTimestamp(${bucket === 'hour' ? 'toStartOfHour' : 'toStartOfDay'}(occurred_at)) AS at,
         ${group ? GROUP_COLUMNS[group] : `''`} AS group, toUInt32(count()) AS count
       FROM mentions FINAL
       WHERE ${sql.join(' AND ')} AND occurred_at >= {since: DateTime64(3, 'UTC')}
         AND occurred_at < {until: DateTime64(3, 'UTC')}
       GROUP BY at, group ORDER BY at, group`,
      { ...params, since: clickHouseTime(since), until: clickHouseTime(until) },
    );
  }

  /**
   * Returns the `limit` most frequent pairs of a field's value and a source, most frequent first. Empty values are left
   * out.
   */
  async top(
    accountId: string,
    filter: MentionFilter,
    { by, since, until, limit }: { by: TopField; since: Date; until: Date; limit: number },
  ): Promise<TopRow[]> {
    const { sql, params } = await this.conditions(accountId, filter);
    return selectRows<TopRow>(
      this.clickhouse,
      `SELECT ${TOP_COLUMNS[by]} AS value, source, toUInt32(count()) AS count
       FROM mentions FINAL
       WHERE ${sql.join(' AND ')} AND occurred_at >= {since: DateTime64(3, 'UTC')}
         AND occurred_at < {until: DateTime64(3, 'UTC')} AND value != ''
       GROUP BY value, source ORDER BY count DESC, value, source LIMIT {limit: UInt32}`,
      { ...params, since: clickHouseTime(since), until: clickHouseTime(until), limit },
    );
  }

  /**
   * Returns a page of the stored envelopes of watches, and one more row if there is a next page. The events of a
   * keyword itself are stored under the keyword's id.
   */
  events(accountId: string, watchIds: readonly string[], page: TimePage): Promise<EventRow[]> {
    const conditions = ['watch_id IN {watchIds: Array(UUID)}', 'account_id = {accountId: UUID}'];
    return readPage(this.clickhouse, EVENTS, conditions, { accountId, watchIds }, page);
  }

  private async conditions(
    accountId: string,
    filter?: MentionFilter,
    keywordId?: string,
  ): Promise<Conditions> {
    const { sql, params } = filter ? conditionsOf(filter) : { sql: [], params: {} };
    const all: Conditions = {
      sql: ['account_id = {accountId: UUID}', ...sql],
      params: { accountId, ...params },
    };
    const purged = await this.purged.of(accountId);
    if (purged.length > 0) {
      all.sql.push('keyword_id NOT IN {purged: Array(UUID)}');
      all.params.purged = purged;
    }
    if (keywordId) {
      all.sql.push('keyword_id = {keywordId: UUID}');
      all.params.keywordId = keywordId;
    }
    return all;
  }
}
