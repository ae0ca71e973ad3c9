import type { JsMsg } from '@nats-io/jetstream';
import { predecessorOf } from '#event-store';
import { done, isReread, retry, type ConsumerOptions, type Outcome } from '#messaging';
import type { Database } from '#postgres';
import { causeOf } from '#telemetry';
import {
  applyInOrder,
  positionsOf,
  type ProjectedMessage,
  type Projection,
  type Verdict,
} from './projection.js';

/** Maximum number of messages that a consumer applies in one transaction. */
const BATCH_SIZE = 200;
const EARLY_MS = 200;
/**
 * After this number of deliveries, the consumer asks the stream whether the predecessor of an early message still exists.
 * A message of a replica that is behind another replica is usually delivered once or twice.
 */
const EARLY_DELIVERIES = 5;
/** Delay before a message is retried if the tables belong to another release. */
const OTHER_VERSION_MS = 500;

/** Returns the consumer that feeds a projection. Its handler is `applyBatch`. */
export function consumerOf(projection: Projection): ConsumerOptions {
  const { stream, subjects, name, lingerMs = 0, everyMs = 0 } = projection;
  return {
    stream,
    subjects,
    name: `projection-${name}`,
    batchSize: BATCH_SIZE,
    lingerMs,
    everyMs,
    inOrder: true,
  };
}

/** Returns the last sequence of the projection's stream that the tables contain; 0 for none. */
export async function appliedUpTo(database: Database, { name }: Projection): Promise<number> {
  const [row] = await database.query<{ seq: number | null }[]>(
    'SELECT max(seq) AS seq FROM projection_positions WHERE projection = $1',
    [name],
  );
  return row?.seq ?? 0;
}

/**
 * Returns the sequence of the first message of a subject after a sequence, as the projection's stream contains it;
 * undefined if there is none.
 */
export type FirstAfter = (subject: string, seq: number) => Promise<number | undefined>;

/**
 * Applies a batch in one transaction. Retries a message whose predecessor is not applied yet. If the tables belong to
 * another release, retries all messages that are not applied yet, because the replicas of that release apply them.
 * @param firstAfter finds messages whose predecessor has expired; without it, such a message is retried for ever
 * @returns an outcome for each message, in the order of the batch
 * @throws the errors of `applyInOrder`; then nothing of the batch is applied
 */
export async function applyBatch(
  database: Database,
  projection: Projection,
  batch: readonly JsMsg[],
  firstAfter?: FirstAfter,
): Promise<Outcome[]> {
  const open = (await openOf(database, projection, batch)).toSorted((a, b) => a.seq - b.seq);
  if (open.length === 0) return batch.map(() => done);
  const apply = (messages: readonly ProjectedMessage[]) =>
    database.transaction((tx) => applyInOrder(tx, projection, messages));
  const projected = open.map((message): ProjectedMessage => {
    const { subject, seq, data, headers } = message;
    const predecessor = predecessorOf(headers) ?? 0;
    return { subject, seq, data, predecessor, cause: causeOf(message), reread: isReread(message) };
  });
  const verdicts = await apply(projected);
  const early = projected.filter((_, n) => verdicts[n] === 'early' && isOftenDelivered(open[n]));
  const orphans = firstAfter ? await orphansOf(database, projection, early, firstAfter) : [];
  if (orphans.length > 0) {
    const found = await apply(orphans.map((message) => ({ ...message, predecessor: 0 })));
    orphans.forEach((message, n) => (verdicts[projected.indexOf(message)] = found[n] ?? 'early'));
  }
  const outcomes = new Map(open.map((message, n) => [message, OUTCOMES[verdicts[n] ?? 'early']]));
  return batch.map((message) => outcomes.get(message) ?? done);
}

/**
 * Returns the messages that must be applied. A command applies its own decision. So for streams of decisions, usually
 * nothing is left to apply or to lock.
 */
async function openOf(
  database: Database,
  { name, unordered }: Projection,
  batch: readonly JsMsg[],
): Promise<readonly JsMsg[]> {
  if (unordered) return batch;
  const known = await positionsOf(
    database.manager,
    name,
    batch.map(({ subject }) => subject),
  );
  return batch.filter(({ subject, seq }) => seq > (known.get(subject) ?? 0));
}

function isOftenDelivered(message: JsMsg | undefined): boolean {
  return (message?.info?.deliveryCount ?? 1) >= EARLY_DELIVERIES;
}

/**
 * Returns the messages whose predecessor the stream does not contain any more, because of its age. This happens if the
 * tables are newer than the stream's first messages: after an update with new tables, or after a loss of Postgres.
 */
async function orphansOf(
  database: Database,
  { name }: Projection,
  early: readonly ProjectedMessage[],
  firstAfter: FirstAfter,
): Promise<ProjectedMessage[]> {
  if (early.length === 0) return [];
  const positions = await positionsOf(
    database.manager,
    name,
    early.map(({ subject }) => subject),
  );
  const firsts = await Promise.all(
    early.map(({ subject }) => firstAfter(subject, positions.get(subject) ?? 0)),
  );
  return early.filter(({ seq }, n) => seq === firsts[n]);
}

const OUTCOMES: Readonly<Record<Verdict, Outcome>> = {
  applied: done,
  known: done,
  early: retry(EARLY_MS),
  'other-version': retry(OTHER_VERSION_MS),
};
