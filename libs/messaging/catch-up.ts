import type { JsMsg, StoredMsg } from '@nats-io/jetstream';
import type { Logger } from '#telemetry';
import type { Bus } from './bus.js';
import type { Durable } from './durable.js';
import { consumerInfo, getMessage, untilAnswered } from './jetstream-requests.js';
import type { StreamName } from './streams.js';

const BATCH = 500;
const ALL = '>';

/**
 * Rebuilds the tables of a consumer if they lack messages that the consumer has acknowledged. This happens when
 * Postgres was lost or restored from an older copy. The consumer would never deliver those messages again. The
 * consumer starts after the rebuild, and the service answers commands after the start of all its consumers.
 * @throws the error of the handler, of `appliedUpTo` or of NATS
 */
export async function catchUp(bus: Bus, durable: Durable, log: Logger): Promise<void> {
  if (!durable.appliedUpTo) return;
  const { stream, name, subjects = ALL } = durable;
  const info = await untilAnswered(() => consumerInfo(bus, stream, name));
  const acknowledged = info?.ack_floor.stream_seq ?? 0;
  const applied = await durable.appliedUpTo();
  const next = { seq: applied + 1, next_by_subj: subjects };
  const missing = await untilAnswered(() => getMessage(bus, stream, next));
  if (!missing || missing.seq > acknowledged) return;
  log.warn(
    { stream, applied, acknowledged },
    'the tables lack messages of the stream; rebuilding them from it',
  );
  let messages = 0;
  // Reads from the beginning, because in an older copy the last applied message differs from subject to subject.
  for await (const batch of batchesOf(bus, stream, 1, subjects)) {
    await durable.handle(batch.map(asDelivered));
    messages += batch.length;
  }
  log.warn({ stream, messages }, 'the tables are rebuilt');
}

/**
 * Returns the messages of a stream in batches of up to 500, oldest first, up to the message that is the last one when
 * the read begins. Returns no batch if there is no message.
 * @param from the first sequence that is returned
 * @param subjects only messages on these subjects are returned; wildcards are allowed
 * @param ask makes a request to NATS. By default, a request that an outage stopped is repeated, because a rebuild of many
 * messages would otherwise begin again
 */
export async function* batchesOf(
  bus: Bus,
  stream: StreamName,
  from = 1,
  subjects = ALL,
  ask: <T>(request: () => Promise<T>) => Promise<T> = untilAnswered,
): AsyncGenerator<StoredMsg[]> {
  const { state } = await ask(() => bus.jsm.streams.info(stream));
  let batch: StoredMsg[] = [];
  for (let seq = Math.max(from, state.first_seq); seq <= state.last_seq;) {
    const next = { seq, next_by_subj: subjects };
    const message = await ask(() => getMessage(bus, stream, next));
    if (!message || message.seq > state.last_seq) break;
    batch.push(message);
    seq = message.seq + 1;
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/**
 * Returns the parts of a delivered message that handlers of consumers with `appliedUpTo` read. The headers are left out,
 * because they name the predecessor. The messages come in the order of the stream, so a predecessor that was not handled
 * is no longer in the stream.
 */
function asDelivered({ subject, seq, data }: StoredMsg): JsMsg {
  const message = { subject, seq, data } as JsMsg;
  reread.add(message);
  return message;
}

const reread = new WeakSet<JsMsg>();

/** Returns true if the consumer has acknowledged the message earlier, and gets it again because the tables lack it. */
export function isReread(message: JsMsg): boolean {
  return reread.has(message);
}
