import { fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { EventSchema } from '#contracts';
import { insertRows, type ClickHouseClient, type EventRow } from '#clickhouse';
import { done, type Outcome } from '#messaging';
import { CLICKHOUSE, DATABASE } from '#platform';
import type { Database } from '#postgres';
import { EVENTS_INDEX } from '#projections';
import { ConsumerPattern } from '#transport';
import { knownWatches } from './check-sink.js';

/**
 * Writes the index of EVENTS by watch: the sequence, by which replays read the bytes from the stream, and the envelope,
 * which is what readers of a watch's events get. Reads the stream from its beginning the first time: rows of the time
 * before there were sequences get theirs.
 */
@Controller()
export class EventsIndexSink {
  constructor(
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  // Two: the next batch is read while ClickHouse writes.
  @ConsumerPattern({ stream: 'EVENTS', name: EVENTS_INDEX, batchSize: 2000, batchesAtOnce: 2 })
  async write(batch: readonly JsMsg[]): Promise<Outcome[]> {
    const rows = batch.flatMap(eventRow);
    // An event is made only of a watch that has a row, so one without was purged: it must not come back.
    const known = await knownWatches(
      this.database,
      rows.map((row) => row.watch_id),
    );
    await insertRows<EventRow>(
      this.clickhouse,
      'events',
      rows.filter((row) => known.has(row.watch_id)),
    );
    return batch.map(() => done);
  }
}

/** Dropped items stay readable as mentions; as events they never happened. */
function eventRow({ data, seq }: JsMsg): EventRow[] {
  const event = fromBinary(EventSchema, data);
  if (event.dropped) return [];
  return [
    {
      watch_id: event.watchId,
      occurred_at: event.occurredAt,
      event_id: event.eventId,
      account_id: event.accountId,
      push: event.push,
      type: event.type,
      stream_seq: seq,
      envelope: new TextDecoder().decode(event.envelope),
    },
  ];
}
