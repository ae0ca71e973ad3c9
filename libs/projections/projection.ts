import type { JsMsg } from '@nats-io/jetstream';
import { predecessorOf } from '#event-store';
import { done, retry, type ConsumerOptions, type Outcome, type StreamName } from '#messaging';
import type { Database, Tx } from '#postgres';

/** A message on its way into tables. */
export interface ProjectedMessage {
  subject: string;
  seq: number;
  data: Uint8Array;
  /** Sequence of the message before it on the subject; 0 for the first. */
  predecessor: number;
}

/**
 * Tables that follow a stream. `apply` changes rows in the transaction it is given and never refuses: what a
 * newer version wrote and this one does not know is passed over.
 */
export interface Projection {
  /** With the version in it: `keywords-v1`. A new version is a new name, built beside the old. */
  name: string;
  stream: StreamName;
  /** Its tables, in the order in which they can be emptied; absent where they hold more than the stream tells. */
  tables?: readonly string[];
  apply(tx: Tx, message: ProjectedMessage): Promise<void>;
}

/** The projection that keeps `keywords` and `watches`, for those who act on a decision once its rows stand. */
export const KEYWORDS_PROJECTION = 'keywords-v1';

/** The consumer that keeps ClickHouse's index of EVENTS, for those who act on an event once the index names it. */
export const EVENTS_INDEX = 'events-index-v1';

type Verdict = 'applied' | 'known' | 'early';

/**
 * Applies one message exactly once and in its subject's order, within the transaction.
 * @returns `known` when it was applied before, `early` when its predecessor was not yet
 */
export async function applyOnce(tx: Tx, projection: Projection, message: ProjectedMessage): Promise<Verdict> {
  await tx.query(
    'INSERT INTO projection_positions (projection, subject, seq) VALUES ($1, $2, 0) ON CONFLICT DO NOTHING',
    [projection.name, message.subject],
  );
  const rows: { seq: number }[] = await tx.query(
    'SELECT seq FROM projection_positions WHERE projection = $1 AND subject = $2 FOR UPDATE',
    [projection.name, message.subject],
  );
  const position = rows[0]?.seq ?? 0;
  if (message.seq <= position) return 'known';
  if (message.predecessor > position) return 'early';
  await projection.apply(tx, message);
  await tx.query('UPDATE projection_positions SET seq = $3 WHERE projection = $1 AND subject = $2', [
    projection.name,
    message.subject,
    message.seq,
  ]);
  return 'applied';
}

/** The sequence up to which the projection has followed the subject; 0 when it has seen nothing of it. */
export async function positionOf(
  tx: Tx,
  projection: Pick<Projection, 'name'>,
  subject: string,
): Promise<number> {
  return (await positionsOf(tx, projection.name, [subject])).get(subject) ?? 0;
}

/** As `positionOf`, of many subjects; those that it has seen nothing of are missing. */
export async function positionsOf(
  tx: Tx,
  projectionName: string,
  subjects: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (subjects.length === 0) return new Map();
  const rows: { subject: string; seq: number }[] = await tx.query(
    'SELECT subject, seq FROM projection_positions WHERE projection = $1 AND subject = ANY($2)',
    [projectionName, subjects],
  );
  return new Map(rows.map(({ subject, seq }) => [subject, seq]));
}

/**
 * Forgets how far the projection has followed these subjects: their messages were purged.
 * @param subjects `*` is any id
 */
export async function forgetPositions(
  tx: Tx,
  projection: Pick<Projection, 'name'>,
  subjects: readonly string[],
): Promise<void> {
  await tx.query('DELETE FROM projection_positions WHERE projection = $1 AND subject LIKE ANY($2)', [
    projection.name,
    subjects.map((subject) => subject.replaceAll('*', '%')),
  ]);
}

/** Messages that one transaction applies at most. */
const BATCH_SIZE = 200;

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

/** Applies a batch in one transaction. A message whose predecessor is not applied yet is retried. */
export function applyBatch(
  database: Database,
  projection: Projection,
  batch: readonly JsMsg[],
): Promise<Outcome[]> {
  return database.transaction(async (tx) => {
    const outcomes = new Map<JsMsg, Outcome>();
    for (const message of batch.toSorted((a, b) => a.seq - b.seq)) {
      const verdict = await applyOnce(tx, projection, {
        subject: message.subject,
        seq: message.seq,
        data: message.data,
        predecessor: predecessorOf(message.headers) ?? 0,
      });
      outcomes.set(message, verdict === 'early' ? retry(200) : done);
    }
    return batch.map((message) => outcomes.get(message) ?? retry(200));
  });
}
