import { setTimeout as wait } from 'node:timers/promises';
import { AppendConflict, type EventStore } from '#event-store';
import { failpoint, Outage, Refusal, refuseOversize } from '#kernel';
import { subjectOf, type DecisionStream } from '#messaging';
import { lockAccount, together, type Database, type Tx } from '#postgres';
import { applyNext, lockPositions, positionOf, type ProjectedMessage, type Projection } from '#projections';
import { inTurnOfAccount } from './account-turns.js';

/** The stored message of one command: its id and the events that were decided. */
export interface Decision<E> {
  commandId: string;
  events: E[];
}

/** The pure functions of a domain, and the encoding of its decisions. */
export interface Aggregate<S, E, D extends Decision<E>> {
  stream: DecisionStream;
  initial: S;
  evolve(state: S, event: E): S;
  decode(data: Uint8Array): D;
  encode(decision: D): Uint8Array;
}

/** One command that is being executed. */
export interface Execution<S, E, D extends Decision<E>, R = undefined> {
  aggregate: Aggregate<S, E, D>;
  /** Applied before the transaction ends, so that the caller can read what the command wrote. */
  projection: Projection;
  accountId: string;
  /** The tokens of the subject that follow the account. */
  subjectTokens: readonly string[];
  commandId: string;
  /** How long the command can wait before it begins. Default: 5 s, because its caller waits only 10 s for the reply. */
  beginWithinMs?: number | undefined;
  /**
   * Reads what `decide` needs, if this does not depend on the state. Postgres gets these statements in the same write
   * as the locks, and runs them after it has the locks. The rows of the subject itself can lack its last messages.
   * @throws Refusal; `execute` ignores it if the command is a repetition
   */
  read?(tx: Tx): Promise<R>;
  /**
   * Returns the events that the command causes; an empty list changes nothing.
   * @param read what `read` returned; undefined without `read`
   * @throws Refusal
   */
  decide(state: S, tx: Tx, read: R): E[] | Promise<E[]>;
  /** Wraps the events into the message that is stored. */
  decisionOf(events: E[]): D;
}

const ATTEMPTS = 5;
const APPLIED_WITHIN_MS = 10_000;
const APPLIED_POLL_MS = 20;

/**
 * Executes one command, after the earlier commands of the account in this process. Under the account's lock, this
 * function loads the subject from its stream, decides, appends if nobody else has appended meanwhile, and applies the
 * projection. A repeated command id changes nothing. After a crash between append and projection, the durable consumer
 * updates the projection.
 * @returns the state after the command; the present state if the command is a repetition or changes nothing
 * @throws Refusal from `read` or `decide`; `too-large` when the decision is too large for a message; `conflict` when
 *   another writer has changed the subject during each of five attempts
 * @throws Outage if the tables belong to another release that does not apply the decision within 10 s
 */
export async function execute<S, E, D extends Decision<E>, R = undefined>(
  database: Database,
  store: EventStore,
  execution: Execution<S, E, D, R>,
): Promise<S> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    try {
      return await inTurnOfAccount(
        database,
        execution.accountId,
        (tx) => decideAndAppend(tx, store, execution, attempt === 1),
        execution.beginWithinMs,
      );
    } catch (error) {
      if (!(error instanceof AppendConflict)) throw error;
    }
  }
  throw Refusal.conflict(
    'another request changed the same data at the same time; read the data again and repeat the request',
  );
}

/**
 * Reads the present state of one subject from its stream, without a lock: for answers that store nothing.
 * @returns `initial` if the subject has no message
 */
export async function readState<S, E, D extends Decision<E>>(
  store: EventStore,
  { stream, initial, evolve, decode }: Aggregate<S, E, D>,
  accountId: string,
  subjectTokens: readonly string[],
): Promise<S> {
  const stored = await store.read(stream, subjectOf(stream, accountId, ...subjectTokens));
  return stored.flatMap(({ data }) => decode(data).events).reduce(evolve, initial);
}

/**
 * Takes the account's lock first.
 * @param assumeNew true: assumes that a subject without rows in the projection is new, and does not read its
 * stream. The append fails if the assumption is wrong.
 * @throws AppendConflict when somebody else appended first, or the assumption was wrong
 */
async function decideAndAppend<S, E, D extends Decision<E>, R>(
  tx: Tx,
  store: EventStore,
  execution: Execution<S, E, D, R>,
  assumeNew: boolean,
): Promise<S> {
  const { aggregate, projection, accountId, subjectTokens, commandId } = execution;
  const subject = subjectOf(aggregate.stream, accountId, ...subjectTokens);
  let state = aggregate.initial;
  let seq = 0;
  let repeated = false;
  // The position is locked before the append. So if the consumer gets the appended message early, the consumer waits
  // for this command, and this command does not wait for the consumer.
  const [, positions, read] = await together([
    lockAccount(tx, accountId),
    lockPositions(tx, projection, new Map([[subject, 0]])),
    resultOrRefusal(execution, tx),
  ]);
  const position = positions?.get(subject)?.seq ?? (await positionOf(tx, projection, subject));
  const project = (message: ProjectedMessage) =>
    positions ? applyNext(tx, projection, message) : appliedByOthers(tx, projection, message);
  const isAssumedNew = assumeNew && position === 0;
  // After a crash, the tables may lack the last messages of the stream.
  for (const stored of isAssumedNew ? [] : await store.read(aggregate.stream, subject)) {
    const decision = aggregate.decode(stored.data);
    state = decision.events.reduce((before, event) => aggregate.evolve(before, event), state);
    repeated ||= decision.commandId === commandId;
    if (stored.seq > position)
      await project({ subject, seq: stored.seq, data: stored.data, predecessor: seq });
    seq = stored.seq;
  }
  if (repeated) return state;
  const confirmNew = async () => {
    if (isAssumedNew && (await store.lastSeq(aggregate.stream, subject)) > 0)
      throw new AppendConflict(`${subject}: not at 0`);
  };
  let events: E[];
  try {
    if (read instanceof Refusal) throw read;
    events = await execution.decide(state, tx, read as R);
  } catch (refusal) {
    await confirmNew();
    throw refusal;
  }
  if (events.length === 0) {
    await confirmNew();
    return state;
  }
  const data = aggregate.encode(execution.decisionOf(events));
  refuseOversize('the decision about the request', data.length);
  const appended = await store.append(subject, data, seq, commandId);
  failpoint('after-append-before-projection');
  await project({ subject, seq: appended, data, predecessor: seq });
  return events.reduce((before, event) => aggregate.evolve(before, event), state);
}

/** Returns what `read` returns. If `read` throws a refusal, returns the refusal. Throws all other errors. */
async function resultOrRefusal<R>(
  { read }: { read?(tx: Tx): Promise<R> },
  tx: Tx,
): Promise<R | Refusal | undefined> {
  try {
    return await read?.(tx);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/**
 * Waits until a replica of the release that wrote the tables has applied a message. Keeps the account's lock meanwhile,
 * so that no command decides on rows that lack the message.
 * @throws Outage when no replica has applied it in time. The decision is stored, and a repeated command id finds it.
 */
async function appliedByOthers(tx: Tx, projection: Projection, message: ProjectedMessage): Promise<void> {
  for (const deadline = Date.now() + APPLIED_WITHIN_MS; ;) {
    if ((await positionOf(tx, projection, message.subject)) >= message.seq) return;
    if (Date.now() > deadline)
      throw new Outage(
        'Postgres',
        `the tables of ${projection.name} belong to another release, which has not applied the decision in time`,
      );
    await wait(APPLIED_POLL_MS);
  }
}
