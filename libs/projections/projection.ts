import type { StreamName } from '#messaging';
import type { Tx } from '#postgres';

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
  apply(tx: Tx, message: ProjectedMessage): Promise<void>;
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

/** What became of a message: see `applyOnce`. */
export type Verdict = 'applied' | 'known' | 'early' | 'other-version';

/** The version of a projection that this release knows. */
export function versionOf({ version = 1 }: Pick<Projection, 'version'>): number {
  return version;
}

/**
 * Applies one message exactly once and in its subject's order, within the transaction.
 * @returns `known` when it was applied before, `early` when its predecessor was not yet, `other-version` when the tables
 * are those of another release, which applies it
 */
export async function applyOnce(tx: Tx, projection: Projection, message: ProjectedMessage): Promise<Verdict> {
  await tx.query(
    'INSERT INTO projection_positions (projection, subject, seq) VALUES ($1, $2, 0) ON CONFLICT DO NOTHING',
    [projection.name, message.subject],
  );
  const rows: { seq: number; version: number | null }[] = await tx.query(
    `SELECT seq, (SELECT version FROM projection_versions v WHERE v.projection = p.projection) AS version
     FROM projection_positions p WHERE projection = $1 AND subject = $2 FOR UPDATE`,
    [projection.name, message.subject],
  );
  const position = rows[0]?.seq ?? 0;
  // A rebuild switches the tables only while nobody holds a position: the version stays until this transaction ends.
  if ((rows[0]?.version ?? 1) !== versionOf(projection)) return 'other-version';
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

/**
 * As `positionOf`, and whether the tables are those that this release writes. Both stay true until the transaction ends,
 * but for what the transaction itself and other writers of the subject add.
 */
export async function placeOf(
  tx: Tx,
  projection: Pick<Projection, 'name' | 'version'>,
  subject: string,
): Promise<{ position: number; isOurVersion: boolean }> {
  const [row] = await tx.query<{ seq: number | null; version: number | null }[]>(
    `SELECT (SELECT seq FROM projection_positions WHERE projection = $1 AND subject = $2),
       (SELECT version FROM projection_versions WHERE projection = $1)`,
    [projection.name, subject],
  );
  return { position: row?.seq ?? 0, isOurVersion: (row?.version ?? 1) === versionOf(projection) };
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
