import { fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { IndexedEventSchema, type IndexedEvent } from '#contracts';
import { insertRows, type ActivityRow, type ClickHouseClient, type EventRow } from '#clickhouse';
import { done, FEW_WRITES, type Outcome } from '#messaging';
import { CLICKHOUSE, DATABASE } from '#platform';
import type { Database } from '#postgres';
import { EVENTS_INDEX } from '#projections';
import { ConsumerPattern } from '#transport';
import { keywordActivityOf } from './keyword-activity.js';
import { knownWatches } from './check-sink.js';

const utf8 = new TextDecoder();

/**
 * Writes the table `events` of ClickHouse, which lists the events of EVENTS by watch. A row contains the sequence and
 * the envelope. Replays use the sequence to read the bytes from the stream. Requests for the events of a watch or
 * keyword return the envelope. Events about a keyword itself, except `channel.disabled`, are also written to the
 * activity of the keyword. The first run reads the whole stream, so that rows of older versions get their sequence.
 */
@Controller()
export class EventsIndexSink {
  constructor(
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  // With two batches, the next batch is read while ClickHouse writes.
  @ConsumerPattern({ stream: 'EVENTS', name: EVENTS_INDEX, batchSize: 2000, batchesAtOnce: 2, ...FEW_WRITES })
  async write(batch: readonly JsMsg[]): Promise<Outcome[]> {
    const events = batch.map(({ data, seq }) => ({ event: readEvent(data), seq }));
    const rows = events.flatMap(eventRow);
    // Analysis publishes events only for watches with a row. A watch without a row was purged, and must not reappear.
    const known = await knownWatches(
      this.database,
      rows.map((row) => row.watch_id),
    );
    await insertRows<EventRow>(
      this.clickhouse,
      'events',
      rows.filter((row) => known.has(row.watch_id)),
    );
    await insertRows<ActivityRow>(
      this.clickhouse,
      'activity',
      events.flatMap(({ event }) => (known.has(event.watchId) ? keywordActivityOf(event) : [])),
    );
    return batch.map(() => done);
  }
}

/** Reads only the fields of an event that the table needs: reading a whole event takes several times as long. */
function readEvent(data: Uint8Array): IndexedEvent {
  return fromBinary(IndexedEventSchema, data, { readUnknownFields: false });
}

/**
 * Returns the row of an event. The event of a dropped item has a row only if a rule has sent it. The mention of the
 * item can be read in any case.
 */
function eventRow({ event, seq }: { event: IndexedEvent; seq: number }): EventRow[] {
  if (event.dropped && !event.ruleWebhook) return [];
  return [
    {
      watch_id: event.watchId,
      occurred_at: event.occurredAt,
      event_id: event.eventId,
      account_id: event.accountId,
      push: event.push || event.ruleWebhook,
      type: event.type,
      stream_seq: seq,
      envelope: utf8.decode(event.envelope),
    },
  ];
}
