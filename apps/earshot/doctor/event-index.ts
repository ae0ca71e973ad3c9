import { fromBinary } from '@bufbuild/protobuf';
import type { StoredMsg } from '@nats-io/jetstream';
import { selectRows, type ClickHouseClient } from '#clickhouse';
import { EventSchema } from '#contracts';
import { batchesOf, consumerInfo, type Bus } from '#messaging';
import { EVENTS_INDEX } from '#projections';

/**
 * The differences between the table of events in ClickHouse and the stream EVENTS. Each list contains at most ten ids
 * of events.
 */
export interface IndexReport {
  compared: number;
  missingInIndex: string[];
  missingInStream: string[];
  differing: string[];
}

interface Row {
  seq: string;
  id: string;
  envelope: string;
}

const MAX_NAMED = 10;

/**
 * Compares the newest messages of EVENTS with the table, up to the position of the consumer that writes the table.
 * @param newest how many of the newest messages are compared
 */
export async function compareEventIndex(
  bus: Bus,
  clickhouse: ClickHouseClient,
  newest: number,
): Promise<IndexReport> {
  const report: IndexReport = { compared: 0, missingInIndex: [], missingInStream: [], differing: [] };
  const { state } = await bus.jsm.streams.info('EVENTS');
  const consumer = await consumerInfo(bus, 'EVENTS', EVENTS_INDEX);
  const isIdle = consumer !== undefined && consumer.num_pending + consumer.num_ack_pending === 0;
  const upTo = isIdle ? state.last_seq : (consumer?.ack_floor.stream_seq ?? 0);
  let from = Math.max(state.first_seq, state.last_seq - newest + 1);
  for await (const batch of batchesOf(bus, 'EVENTS', from)) {
    const last = batch.at(-1)?.seq ?? from;
    const part = batch.filter(({ seq }) => seq <= upTo);
    compare(part, await indexed(clickhouse, from, Math.min(last, upTo)), report);
    from = last + 1;
  }
  const behind = await indexed(clickhouse, Math.max(from, upTo + 1), Number.MAX_SAFE_INTEGER);
  // The last sequence of the stream is read after the table. Otherwise an event that is stored meanwhile would seem to
  // be missing in the stream.
  const now = await bus.jsm.streams.info('EVENTS');
  compare(
    [],
    behind.filter(({ seq }) => Number(seq) > now.state.last_seq),
    report,
  );
  return report;
}

/** Number of messages that are compared with the table before the first sequence that is certainly wrong. */
const COMPARED_BEFORE = 500;

/**
 * Removes wrong sequences from the rows of the table: an older copy of NATS gives the sequences of lost messages to other
 * messages, or to the same events, which were found again at another time. Keeps the rows, because no other place
 * contains these events. ClickHouse changes the rows later. The caller rebuilds the table immediately, which writes the
 * sequences of the events that the stream contains.
 */
export async function removeWrongSequences(bus: Bus, clickhouse: ClickHouseClient): Promise<void> {
  const { state } = await bus.jsm.streams.info('EVENTS');
  const [certain] = await selectRows<{ seq: string | null }>(
    clickhouse,
    `SELECT minOrNull(stream_seq) AS seq FROM (
       SELECT stream_seq, min((event_id, occurred_at)) AS one, max((event_id, occurred_at)) AS other
       FROM events WHERE stream_seq > 0 GROUP BY stream_seq
     ) WHERE one != other OR stream_seq > {last: UInt64}`,
    { last: state.last_seq },
  );
  if (!certain || certain.seq === null) return;
  const wrongFrom = Number(certain.seq);
  const from = Math.max(state.first_seq, wrongFrom - COMPARED_BEFORE);
  const ids = new Map<number, string>();
  for await (const batch of batchesOf(bus, 'EVENTS', from)) {
    for (const { seq, data } of batch) ids.set(seq, fromBinary(EventSchema, data).eventId);
    break;
  }
  const before = await indexed(clickhouse, from, wrongFrom);
  const wrong = before.filter(({ seq, id }) => ids.get(Number(seq)) !== id).map(({ seq }) => Number(seq));
  await clickhouse.command({
    // Does not wait for the end of the mutation, because the caller must delete the consumer soon: a replay treats a
    // row without a sequence as a lost event. Rows that are written after this statement do not change.
    query:
      'ALTER TABLE events UPDATE stream_seq = 0 WHERE stream_seq >= {from: UInt64} SETTINGS mutations_sync = 0',
    query_params: { from: Math.min(wrongFrom, ...wrong) },
  });
}

function compare(batch: readonly StoredMsg[], rows: readonly Row[], report: IndexReport): void {
  const bySeq = new Map(rows.map((row) => [Number(row.seq), row]));
  for (const { seq, data } of batch) {
    const event = fromBinary(EventSchema, data);
    if (event.dropped && !event.ruleWebhook) continue;
    report.compared += 1;
    const row = bySeq.get(seq);
    bySeq.delete(seq);
    if (!row) note(report.missingInIndex, event.eventId);
    else if (row.id !== event.eventId || row.envelope !== new TextDecoder().decode(event.envelope))
      note(report.differing, event.eventId);
  }
  for (const { id } of bySeq.values()) note(report.missingInStream, id);
}

function note(list: string[], id: string): void {
  if (list.length < MAX_NAMED) list.push(id);
}

function indexed(clickhouse: ClickHouseClient, from: number, to: number): Promise<Row[]> {
  return selectRows<Row>(
    clickhouse,
    `SELECT stream_seq AS seq, toString(event_id) AS id, any(envelope) AS envelope FROM events
     WHERE stream_seq BETWEEN {from: UInt64} AND {to: UInt64} AND stream_seq > 0 GROUP BY seq, id`,
    { from, to },
  );
}
