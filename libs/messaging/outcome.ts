/**
 * What happens to a message next. `done`: it is not delivered again. `retry`: it is delivered again after the given
 * time. `park`: it is set aside with its reason; `npm run -s cli -- parked` lists it and sends it again.
 */
export type Outcome =
  | { kind: 'done' }
  | { kind: 'retry'; afterMs: number }
  | { kind: 'park'; reason: string };

export const done: Outcome = { kind: 'done' };

export function retry(afterMs: number): Outcome {
  return { kind: 'retry', afterMs };
}

export function park(reason: string): Outcome {
  return { kind: 'park', reason };
}
