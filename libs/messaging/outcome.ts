import type { JsMsg } from '@nats-io/jetstream';

/**
 * What happens to a message next. `done`: it is not delivered again. `retry`: it is delivered again after the given
 * time. `park`: it is set aside with its reason. `npm run -s cli -- parked list` shows parked messages, and `parked
 * retry` sends them again.
 */
export type Outcome =
  | { kind: 'done' }
  | { kind: 'retry'; afterMs: number }
  | { kind: 'park'; reason: string };

/** The outcome of the message is not known yet. The next batch does not wait for it. */
export interface Later {
  kind: 'later';
  outcome: Promise<Outcome>;
}

/** The header of a parked message that was sent to its consumers again. */
export const RETRIED_HEADER = 'earshot-retried';

/** The parts of a message that show whether it was handled before. */
type Handled = Pick<JsMsg, 'redelivered'> & Partial<Pick<JsMsg, 'headers'>>;

/** Messages that are handled again without another delivery, because the batch that contained them has failed. */
const failed = new WeakSet<Handled>();

/** Makes `wasHandledBefore` true for messages whose batch has failed. */
export function markFailed(messages: readonly Handled[]): void {
  for (const message of messages) failed.add(message);
}

/** Messages that are older than their consumer. */
const older = new WeakSet<Handled>();

/** Makes `isOlderThanConsumer` and `wasHandledBefore` true for a message. */
export function markOlder(message: Handled): void {
  older.add(message);
}

/**
 * Returns true if the stream stored the message before its consumer was created. Somebody has possibly deleted the
 * consumer on the server. The consumer that was created again then gets all messages of the stream once more.
 */
export function isOlderThanConsumer(message: Handled): boolean {
  return older.has(message);
}

/** Returns true if it is possible that the message was handled before, wholly or in part. */
export function wasHandledBefore(message: Handled): boolean {
  return message.redelivered || failed.has(message) || older.has(message) || isCopy(message);
}

/** Returns true if the message is a copy of a parked message: the original was possibly stored long before. */
export function isCopy({ headers }: Pick<Handled, 'headers'>): boolean {
  return headers?.has(RETRIED_HEADER) === true;
}

export const done: Outcome = { kind: 'done' };

export function retry(afterMs: number): Outcome {
  return { kind: 'retry', afterMs };
}

/** Returns an outcome that comes later. @param outcome a rejection counts as a failure of the message */
export function later(outcome: Promise<Outcome>): Later {
  // The runner handles a rejection, but only after the handler has returned.
  outcome.catch(() => undefined);
  return { kind: 'later', outcome };
}

export function park(reason: string): Outcome {
  return { kind: 'park', reason };
}
