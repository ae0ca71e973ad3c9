import { Inject, Injectable } from '@nestjs/common';
import { NO_ID, selectRows, type ClickHouseClient } from '#clickhouse';
import type { EventStore } from '#event-store';
import { consumerInfo, type Bus } from '#messaging';
import { BUS, CLICKHOUSE, DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { EVENTS_INDEX } from '#projections';
import { readPushedEvent, type ReadEvent } from '../wire/pushed-event.reader.js';

/** The position of an event in a replay: time in ClickHouse's format, then id. */
export interface Position {
  at: string;
  id: string;
}

/** An event of the index. */
export interface IndexedEvent extends Position {
  watchId: string;
  /** The event's sequence in EVENTS; 0 if the row was written before the index had sequences. */
  seq: number;
}

/** The filter of a replay's events. */
export interface IndexQuery {
  accountId: string;
  keywordId: string | null;
  watchId: string | null;
  since: Date;
  until: Date;
  types: readonly string[];
}

interface Row {
  occurred_at: string;
  event_id: string;
  watch: string;
  seq: string;
}

/** Finds stored events. ClickHouse contains the sequences of the events by watch; EVENTS contains the events' bytes. */
@Injectable()
export class EventIndex {
  constructor(
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
    @Inject(BUS) private readonly bus: Bus,
  ) {}

  /** Returns the last sequence of EVENTS. */
  async lastSeq(): Promise<number> {
    const { state } = await this.bus.jsm.streams.info('EVENTS');
    return state.last_seq;
  }

  /**
   * Returns whether the index (the table of events in ClickHouse) contains everything up to the sequence. The index
   * follows the stream with a delay, and an upgrade can rebuild it.
   */
  async holds(upToSeq: number): Promise<boolean> {
    const info = await consumerInfo(this.bus, 'EVENTS', EVENTS_INDEX);
    if (!info) return false;
    return info.num_pending + info.num_ack_pending === 0 || info.ack_floor.stream_seq >= upToSeq;
  }

  /** Returns the number of events that match the query. */
  async count(query: IndexQuery): Promise<number> {
    const { conditions, params } = await this.conditionsOf(query);
    const rows = await selectRows<{ events: string }>(
      this.clickhouse,
      `SELECT uniqExact(event_id) AS events FROM events WHERE ${conditions.join(' AND ')}`,
      params,
    );
    return Number(rows[0]?.events ?? 0);
  }

  /** Returns events after a position, oldest first, without duplicates. */
  async page(query: IndexQuery, after: Position | undefined, limit: number): Promise<IndexedEvent[]> {
    const { conditions, params } = await this.conditionsOf(query);
    if (after)
      conditions.push(
        `occurred_at >= {afterAt: DateTime64(3, 'UTC')}`,
        `(occurred_at, toString(event_id)) > ({afterAt: DateTime64(3, 'UTC')}, {afterId: String})`,
      );
    const rows = await selectRows<Row>(
      this.clickhouse,
      // If an event was written twice, possibly only one of its rows has the sequence.
      `SELECT occurred_at, event_id, any(watch_id) AS watch, max(stream_seq) AS seq FROM events
       WHERE ${conditions.join(' AND ')}
       GROUP BY occurred_at, event_id ORDER BY occurred_at, toString(event_id) LIMIT {limit: UInt32}`,
      { ...params, limit, ...(after ? { afterAt: after.at, afterId: after.id } : {}) },
    );
    return rows.map((row) => ({
      at: row.occurred_at,
      id: row.event_id,
      watchId: row.watch,
      seq: Number(row.seq),
    }));
  }

  /** Returns one event of an account; undefined if the index does not contain it. */
  async find(accountId: string, eventId: string): Promise<IndexedEvent | undefined> {
    const rows = await selectRows<Row>(
      this.clickhouse,
      `SELECT occurred_at, event_id, any(watch_id) AS watch, max(stream_seq) AS seq FROM events
       WHERE account_id = {accountId: UUID} AND event_id = {eventId: UUID} GROUP BY occurred_at, event_id LIMIT 1`,
      { accountId, eventId },
    );
    const [row] = rows;
    return row && { at: row.occurred_at, id: row.event_id, watchId: row.watch, seq: Number(row.seq) };
  }

  /**
   * Returns the event in EVENTS; undefined if its sequence is not known, or if the message does not exist any more or
   * contains another event.
   */
  async read({ seq, id }: IndexedEvent): Promise<ReadEvent | undefined> {
    if (seq === 0) return undefined;
    const stored = await this.store.at('EVENTS', seq);
    if (!stored) return undefined;
    const event = readPushedEvent(stored.data);
    return event.eventId === id ? event : undefined;
  }

  private async conditionsOf(query: IndexQuery) {
    const { accountId, since, until, types } = query;
    const { watchIds, own } = await this.subjectsOf(query);
    const conditions = [
      'watch_id IN {watchIds: Array(UUID)}',
      'account_id = {accountId: UUID}',
      'push',
      `occurred_at >= {since: DateTime64(3, 'UTC')}`,
      `occurred_at < {until: DateTime64(3, 'UTC')}`,
      types.length > 0
        ? 'type IN {types: Array(String)}'
        : '(watch_id != {keywordId: UUID} OR type IN {own: Array(String)})',
    ];
    const params: Record<string, unknown> = {
      watchIds,
      accountId,
      since: clickHouseTime(since),
      until: clickHouseTime(until),
      types,
      own,
      keywordId: query.keywordId ?? NO_ID,
    };
    return { conditions, params };
  }

  /**
   * Returns the ids under which the events are indexed: the id of the watch, or the ids of the keyword itself and of
   * every watch that it has had. `own`: the types in the keyword's `webhookEvents`.
   */
  private async subjectsOf({
    keywordId,
    watchId,
    accountId,
  }: IndexQuery): Promise<{ watchIds: string[]; own: string[] }> {
    if (watchId !== null) return { watchIds: [watchId], own: [] };
    const rows: { watch_ids: string[]; own: string[] | null }[] = await this.database.query(
      `SELECT ARRAY(SELECT watch_id::text FROM watches w WHERE w.keyword_id = k.keyword_id) AS watch_ids,
         k.definition->'webhookEvents' AS own
       FROM keywords k WHERE k.keyword_id = $1 AND k.account_id = $2`,
      [keywordId, accountId],
    );
    const [row] = rows;
    return {
      watchIds: [...(row?.watch_ids ?? []), ...(keywordId === null ? [] : [keywordId])],
      own: row?.own ?? [],
    };
  }
}

function clickHouseTime(at: Date): string {
  return at.toISOString().replace('T', ' ').replace('Z', '');
}
