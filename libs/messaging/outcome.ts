/**
 * What should become of a message. `done`: never again. `retry`: again after the time. `park`: set aside with its
 * reason, listed and sent again by `npm run -s cli -- parked`.
 */
export type Outcome =
  { kind: 'done' } | { kind: 'retry'; afterMs: number } | { kind: 'park'; reason: string };

export const done: Outcome = { kind: 'done' };

export function retry(afterMs: number): Outcome {
  return { kind: 'retry', afterMs };
}

export function park(reason: string): Outcome {
  return { kind: 'park', reason };
}
