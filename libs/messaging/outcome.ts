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

/** Returns true if it is possible that an earlier delivery of the message was handled, wholly or in part. */
export function wasHandledBefore({
  redelivered,
  headers,
}: Pick<JsMsg, 'redelivered'> & Partial<Pick<JsMsg, 'headers'>>): boolean {
  return redelivered || headers?.has(RETRIED_HEADER) === true;
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
