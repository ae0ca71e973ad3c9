import { setImmediate } from 'node:timers/promises';
import type { ConsumerOptions, StreamName } from '#messaging';
import { together, type Tx } from '#postgres';

/** A message that is to be applied to tables. */
export interface ProjectedMessage {
  subject: string;
  seq: number;
  data: Uint8Array;
  /** Sequence of the previous message on the subject; 0 for the first, or if the caller does not know the sequence. */
  predecessor: number;
  /** `traceparent` of the work that caused the message, if it is known. */
  cause?: string | undefined;
  /**
   * True if the position was already at or after this message, so the message was possibly applied before. Only messages
   * of `unordered` projections have this mark.
   */
  again?: boolean;
  /** True if the consumer has acknowledged the message earlier. The tables lack it, because they were lost or restored. */
  reread?: boolean;
}

/** A message with its content: the result of the projection's `read`, or undefined if the projection has no `read`. */
export interface ReadMessage<Content = unknown> extends ProjectedMessage {
  content: Content;
}

/**
 * Tables that follow a stream. `apply` changes rows in the given transaction. It must not refuse a message: it skips
 * content that a newer version wrote and this version does not know. It must not read the positions of the projection:
 * the positions can already be those after the messages. The messages of one call have different subjects (but see
 * `severalOfSubject`), oldest first.
 */
export interface Projection<Content = unknown> extends Pick<ConsumerOptions, 'lingerMs' | 'everyMs'> {
  /**
   * Identifies the projection's positions. The name of the consumer is `projection-` and this name. The name never
   * changes: a `-v1` at its end is part of the name.
   */
  name: string;
  stream: StreamName;
  /** Only messages on these subjects, with wildcards. Default: the whole stream. The subjects cannot change later. */
  subjects?: string;
  /**
   * Default 1. A start with a higher version builds new tables beside the old ones, or fails without `rebuild`.
   * Increase the version when you change `apply` and it then makes other rows from the same messages.
   */
  version?: number;
  /**
   * True: `apply` also gets several messages of one subject together, oldest first. Tables of counts use this, so that
   * a burst of one subject is not applied message by message.
   */
  severalOfSubject?: boolean;
  /**
   * True for a stream whose messages do not name their predecessor, such as EVENTS: replicas apply the messages of a subject
   * in any order, and a message that comes late is applied too. So `apply` must ignore what it has applied before.
   */
  unordered?: boolean;
  /**
   * How to rebuild the tables. Absent if the tables contain more than the stream, because such tables cannot be
   * rebuilt.
   */
  rebuild?: Rebuildable;
  /**
   * Reads a message before `apply` gets it. `applyInOrder` reads messages while Postgres locks their positions, so it
   * also reads messages that it then does not apply. An error matters only if the message is applied.
   */
  read?(message: ProjectedMessage): Content;
  apply(tx: Tx, messages: readonly ReadMessage<Content>[]): Promise<void>;
}

/** Data of a table that a rebuild copies from the old rows to the new ones. */
export interface Kept {
  table: string;
  /** The column that identifies a row. */
  key: string;
  columns: readonly string[];
  /** True: rows that the stream no longer contains are kept. */
  rows?: boolean;
}

/** Describes the tables for a rebuild. */
export interface Rebuildable {
  /** Tables that are rebuilt. A table comes before the tables that it refers to. */
  tables: readonly string[];
  /**
   * Tables that `apply` writes and that contain more than the stream. A rebuild keeps their rows, and only applies the
   * messages that no replica has applied yet.
   */
  untouched?: readonly string[];
  /** Data that the stream does not determine or no longer contains. It is copied from the old rows. */
  kept?: readonly Kept[];
  /** Deletes the rows of purged data: of these subjects, and of purged keywords. */
  forget?(tx: Tx, subjects: readonly string[]): Promise<void>;
}

/** What `applyInOrder` did with a message. */
export type Verdict = 'applied' | 'known' | 'early' | 'other-version';

/** The stored position on a subject. */
export interface LockedPosition {
  /** Sequence of the last applied message. */
  seq: number;
  /** True if the call that took the lock also stored the position. */
  isNew: boolean;
}

/** Returns the version that this release gives to a projection. */
export function versionOf({ version = 1 }: Pick<Projection, 'version'>): number {
  return version;
}

/**
 * Locks the projection's position on each subject until the transaction ends. A rebuild switches the tables only while
 * nobody locks a position, so the version of the tables does not change meanwhile. Several subjects are locked in
 * alphabetical order, to prevent deadlocks.
 * @param seqs the sequence that is stored for each subject that has no position yet
 * @returns the stored position of each subject; undefined if the tables have another version than in this release, or for
 *   no subjects
 */
export async function lockPositions(
  tx: Tx,
  projection: Pick<Projection, 'name' | 'version'>,
  seqs: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, LockedPosition> | undefined> {
  const subjects = [...seqs.keys()].sort();
  const rows: (LockedPosition & { subject: string })[] = await tx.query(
    // xmax is 0 only if the row is new: Postgres locks an existing row before it updates the row.
    `INSERT INTO projection_positions AS p (projection, subject, seq)
     SELECT $1, subject, seq FROM unnest($2::text[], $3::bigint[]) AS n (subject, seq)
     WHERE COALESCE((SELECT version FROM projection_versions WHERE projection = $1), 1) = $4
     ON CONFLICT (projection, subject) DO UPDATE SET seq = p.seq
     RETURNING subject, seq, xmax = 0 AS "isNew"`,
    [projection.name, subjects, subjects.map((subject) => seqs.get(subject)), versionOf(projection)],
  );
  return rows.length === 0 ? undefined : new Map(rows.map((row) => [row.subject, row]));
}

/**
 * Applies messages exactly once, in the order of each subject, within the transaction. An `unordered` projection applies
 * all messages.
 * @param messages in the order of their sequences
 * @returns for each message: `applied`; `known` if it was applied before; `early` if its predecessor is not applied
 *   yet; `other-version` if the tables have another version than in this release: the release with that version applies
 *   the message
 * @throws the errors of `apply`, of Postgres, and of `read` for messages that are to be applied
 */
export async function applyInOrder(
  tx: Tx,
  projection: Projection,
  messages: readonly ProjectedMessage[],
): Promise<Verdict[]> {
  if (messages.length === 0) return [];
  // A new subject gets its final position together with the lock, so that its row is written only once.
  const ifNew = new Map<string, number>();
  verdictsOf(projection, messages, ifNew);
  const [locked, read] = await together([
    lockPositions(tx, projection, ifNew),
    // Postgres gets the statement before the messages are read, and runs it meanwhile.
    setImmediate().then(() => messages.map((message) => readEarly(projection, message))),
  ]);
  if (!locked) return messages.map(() => 'other-version');
  const positions = new Map([...locked].map(([subject, { seq, isNew }]) => [subject, isNew ? 0 : seq]));
  const next: ProjectedMessage[] = [];
  const verdicts = verdictsOf(projection, read, positions, next);
  const moved = [...positions].filter(([subject, seq]) => seq !== locked.get(subject)?.seq);
  await together([changeTables(tx, projection, next), setPositions(tx, projection, new Map(moved))]);
  return verdicts;
}

/**
 * Moves the position of each subject forward, over the messages that follow the position without a gap.
 * @param next gets these messages. The position before a message becomes its `predecessor`, because not every caller
 *   knows the predecessor: a rebuild, for example, does not.
 */
function verdictsOf(
  { unordered = false }: Pick<Projection, 'unordered'>,
  messages: readonly ProjectedMessage[],
  positions: Map<string, number>,
  next: ProjectedMessage[] = [],
): Verdict[] {
  return messages.map((message): Verdict => {
    const { subject, seq, predecessor } = message;
    const position = positions.get(subject) ?? 0;
    positions.set(subject, position);
    if (seq <= position && !unordered) return 'known';
    if (seq <= position) {
      next.push({ ...message, predecessor: position, again: true });
      return 'applied';
    }
    if (predecessor > position) return 'early';
    positions.set(subject, seq);
    next.push({ ...message, predecessor: position });
    return 'applied';
  });
}

/**
 * Applies a message that is the next one of its subject. The transaction must have locked the position of the subject.
 */
export async function applyNext(tx: Tx, projection: Projection, message: ProjectedMessage): Promise<void> {
  await together([
    changeTables(tx, projection, [message]),
    setPositions(tx, projection, new Map([[message.subject, message.seq]])),
  ]);
}

function withContent(projection: Projection, message: ProjectedMessage): ReadMessage {
  return { ...message, content: projection.read?.(message) };
}

/**
 * Returns the message with its content. If the content cannot be read, returns the message without content: perhaps the
 * message is not applied at all.
 */
function readEarly(projection: Projection, message: ProjectedMessage): ProjectedMessage | ReadMessage {
  try {
    return withContent(projection, message);
  } catch {
    return message;
  }
}

async function setPositions(
  tx: Tx,
  { name }: Pick<Projection, 'name'>,
  positions: ReadonlyMap<string, number>,
): Promise<void> {
  if (positions.size === 0) return;
  await tx.query(
    `INSERT INTO projection_positions (projection, subject, seq)
     SELECT $1, subject, seq FROM unnest($2::text[], $3::bigint[]) AS m (subject, seq)
     ON CONFLICT (projection, subject) DO UPDATE SET seq = excluded.seq`,
    [name, [...positions.keys()], [...positions.values()]],
  );
}

async function changeTables(
  tx: Tx,
  projection: Projection,
  messages: readonly (ProjectedMessage | ReadMessage)[],
): Promise<void> {
  if (messages.length === 0) return;
  const read = messages.map((message) => ('content' in message ? message : withContent(projection, message)));
  if (projection.severalOfSubject) return projection.apply(tx, read);
  for (let open = read; open.length > 0;) {
    const run = firstOfEach(open);
    await projection.apply(tx, [...run.values()]);
    open = open.filter((message) => run.get(message.subject) !== message);
  }
}

/** Returns the first message of each subject. */
function firstOfEach(messages: readonly ReadMessage[]): Map<string, ReadMessage> {
  const first = new Map<string, ReadMessage>();
  for (const message of messages) if (!first.has(message.subject)) first.set(message.subject, message);
  return first;
}

/** Returns the sequence up to which the projection has applied the subject; 0 for none. */
export async function positionOf(
  tx: Tx,
  projection: Pick<Projection, 'name'>,
  subject: string,
): Promise<number> {
  return (await positionsOf(tx, projection.name, [subject])).get(subject) ?? 0;
}

/**
 * Returns the positions of many subjects (see `positionOf`). A subject without an applied message is missing, or has
 * the position 0.
 */
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
 * Deletes the projection's positions on subjects whose last applied message the stream no longer keeps, because of its
 * age.
 * @param firstSeq the sequence of the first message that the stream still keeps
 */
export async function forgetOldPositions(
  tx: Tx,
  projection: Pick<Projection, 'name'>,
  firstSeq: number,
): Promise<void> {
  await tx.query('DELETE FROM projection_positions WHERE projection = $1 AND seq < $2', [
    projection.name,
    firstSeq,
  ]);
}

/**
 * Deletes the projection's positions on these subjects, because their messages were purged.
 * @param subjects `*` matches any text; every other character matches only itself
 */
export async function forgetPositions(
  tx: Tx,
  projection: Pick<Projection, 'name'>,
  subjects: readonly string[],
): Promise<void> {
  await tx.query('DELETE FROM projection_positions WHERE projection = $1 AND subject LIKE ANY($2)', [
    projection.name,
    subjects.map((subject) => subject.replace(/[\\%_]/g, '\\$&').replaceAll('*', '%')),
  ]);
}
