import type { JsMsg } from '@nats-io/jetstream';
import { predecessorOf } from '#event-store';
import { done, retry, type ConsumerOptions, type Outcome } from '#messaging';
import type { Database } from '#postgres';
import { causeOf, continueTrace } from '#telemetry';
import { applyOnce, type Projection, type Verdict } from './projection.js';

/** Messages that one transaction applies at most. */
const BATCH_SIZE = 200;
const EARLY_MS = 200;
/** How long a message waits before it is offered again where the tables are those of another release. */
const OTHER_VERSION_MS = 500;

/** The consumer that feeds a projection. Its handler is `applyBatch`. */
export function consumerOf({ stream, name }: Projection): ConsumerOptions {
  return { stream, name: `projection-${name}`, batchSize: BATCH_SIZE, inOrder: true };
}

/** The last sequence of its stream that the projection's tables hold; 0 for none. */
export async function appliedUpTo(database: Database, { name }: Projection): Promise<number> {
  const [row] = await database.query<{ seq: number | null }[]>(
    'SELECT max(seq) AS seq FROM projection_positions WHERE projection = $1',
    [name],
  );
  return row?.seq ?? 0;
}

/**
 * Applies a batch in one transaction. A message whose predecessor is not applied yet is retried, and so is one for tables of
 * another release, whose replicas apply it.
 */
export function applyBatch(
  database: Database,
  projection: Projection,
  batch: readonly JsMsg[],
): Promise<Outcome[]> {
  return database.transaction(async (tx) => {
    const outcomes = new Map<JsMsg, Outcome>();
    for (const message of batch.toSorted((a, b) => a.seq - b.seq)) {
      const { subject, seq, data, headers } = message;
      const projected = { subject, seq, data, predecessor: predecessorOf(headers) ?? 0 };
      const verdict = await continueTrace(causeOf(message), () => applyOnce(tx, projection, projected));
      outcomes.set(message, OUTCOMES[verdict]);
    }
    return batch.map((message) => outcomes.get(message) ?? retry(EARLY_MS));
  });
}

const OUTCOMES: Readonly<Record<Verdict, Outcome>> = {
  applied: done,
  known: done,
  early: retry(EARLY_MS),
  'other-version': retry(OTHER_VERSION_MS),
};
