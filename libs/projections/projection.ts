import type { StreamName } from '#messaging';
import type { Tx } from '#postgres';

/** A message on its way into tables. */
export interface ProjectedMessage {
  subject: string;
  seq: number;
  data: Uint8Array;
  /** Sequence of the message before it on the subject; 0 for the first. */
  predecessor: number;
  /** `traceparent` of the step from which what is done for it follows, where there is one. */
  cause?: string | undefined;
}

/**
 * Tables that follow a stream. `apply` changes rows in the transaction it is given and never refuses: what a
 * newer version wrote and this one does not know is passed over. Its messages are of different subjects, oldest first.
 */
export interface Projection {
  /** Names its positions and its consumer, and never changes: a `-v1` at its end is part of the name. */
  name: string;
  stream: StreamName;
  /**
   * 1 where not said. A higher version at a start builds the tables anew beside the old ones. Change it with each change
   * of `apply` that makes other rows of the same messages.
   */
  version?: number;
  /** How its tables are built anew; absent where they hold more than the stream says and cannot be. */
  rebuild?: Rebuildable;
  apply(tx: Tx, messages: readonly ProjectedMessage[]): Promise<void>;
}

/** What the old rows of a table give to the new ones. */
export interface Kept {
  table: string;
  /** The column that names a row. */
  key: string;
  columns: readonly string[];
  /** True: rows that the stream has no more stay. */
  rows?: boolean;
}

/** What a rebuild has to know of the tables. */
export interface Rebuildable {
  /** Tables that are built anew. A table is named before the tables that it refers to. */
  tables: readonly string[];
  /** Tables that `apply` writes and that hold more than the stream says: a rebuild leaves them as they are. */
  untouched?: readonly string[];
  /** What something else than the stream decides, or the stream has no more: it is taken from the old rows. */
  kept?: readonly Kept[];
  /** Deletes the rows of what was purged: of these subjects, and of purged keywords. */
  forget?(tx: Tx, subjects: readonly string[]): Promise<void>;
}

/** What became of a message: see `applyInOrder`. */
export type Verdict = 'applied' | 'known' | 'early' | 'other-version';

/** The version of a projection that this release knows. */
export function versionOf({ version = 1 }: Pick<Projection, 'version'>): number {
  return version;
}

/**
 * Locks how far the projection has followed each subject, until the transaction ends. A rebuild switches the tables only while
 * nobody holds a position, so that their version stays as well. Where there are several subjects, everybody locks them in
 * the same order.
 * @returns the sequence of each subject, 0 for a new one; undefined where the tables are those of another release
 */
export async function lockPositions(
  tx: Tx,
  projection: Pick<Projection, 'name' | 'version'>,
  subjects: Iterable<string>,
): Promise<Map<string, number> | undefined> {
  const rows: { subject: string; seq: number }[] = await tx.query(
    `INSERT INTO projection_positions AS p (projection, subject, seq)
     SELECT $1, subject, 0 FROM unnest($2::text[]) AS subject
     WHERE COALESCE((SELECT version FROM projection_versions WHERE projection = $1), 1) = $3
     ON CONFLICT (projection, subject) DO UPDATE SET seq = p.seq
     RETURNING subject, seq`,
    [projection.name, [...new Set(subjects)].sort(), versionOf(projection)],
  );
  return rows.length === 0 ? undefined : new Map(rows.map(({ subject, seq }) => [subject, seq]));
}

/**
 * Applies messages exactly once and each in its subject's order, within the transaction.
 * @param messages in the order of their sequences
 * @returns for each message: `known` when it was applied before, `early` when its predecessor was not yet, `other-version` when
 * the tables are those of another release, which applies it
 */
export async function applyInOrder(
  tx: Tx,
  projection: Projection,
  messages: readonly ProjectedMessage[],
): Promise<Verdict[]> {
  if (messages.length === 0) return [];
  const positions = await lockPositions(
    tx,
    projection,
    messages.map(({ subject }) => subject),
  );
  if (!positions) return messages.map(() => 'other-version');
  const next: ProjectedMessage[] = [];
  const verdicts = messages.map((message): Verdict => {
    const position = positions.get(message.subject) ?? 0;
    if (message.seq <= position) return 'known';
    if (message.predecessor > position) return 'early';
    positions.set(message.subject, message.seq);
    next.push(message);
    return 'applied';
  });
  await applyNext(tx, projection, next);
  return verdicts;
}

/** Applies messages whose positions the transaction has locked, and which are the next ones of their subjects. */
export async function applyNext(
  tx: Tx,
  projection: Projection,
  messages: readonly ProjectedMessage[],
): Promise<void> {
  if (messages.length === 0) return;
  for (let open = messages; open.length > 0;) {
    const run = firstOfEach(open);
    await projection.apply(tx, [...run.values()]);
    open = open.filter((message) => run.get(message.subject) !== message);
  }
  const last = new Map(messages.map(({ subject, seq }) => [subject, seq]));
  await tx.query(
    `INSERT INTO projection_positions (projection, subject, seq)
     SELECT $1, subject, seq FROM unnest($2::text[], $3::bigint[]) AS m (subject, seq)
     ON CONFLICT (projection, subject) DO UPDATE SET seq = excluded.seq`,
    [projection.name, [...last.keys()], [...last.values()]],
  );
}

/** The first message of each subject. */
function firstOfEach(messages: readonly ProjectedMessage[]): Map<string, ProjectedMessage> {
  const first = new Map<string, ProjectedMessage>();
  for (const message of messages) if (!first.has(message.subject)) first.set(message.subject, message);
  return first;
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
