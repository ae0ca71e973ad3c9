import { existsSync, readFileSync } from 'node:fs';
import { checkout } from '#testing';

// For specs only. Recorded responses of the upstreams, in a directory beside the checkout. Without this directory, the
// suites that compare the simulator with them are skipped.
const RECORDED = new URL('../shared/upstream/', checkout);

/** A JSON object. */
export type Json = Record<string, unknown>;

/** True if the recorded responses are present. */
export const hasRecorded = existsSync(RECORDED);

/** The title of the suites that compare the simulator with recorded answers. */
export const comparedTitle = hasRecorded
  ? 'compared with recorded answers'
  : 'compared with recorded answers (skipped: no shared/upstream beside the checkout)';

/** Returns a recorded answer. */
export function recorded<T>(file: string): T {
  return JSON.parse(readFileSync(new URL(file, RECORDED), 'utf8')) as T;
}

/** Returns the keys that all of the objects have. */
export function commonKeys(objects: readonly object[]): string[] {
  const [first = {}, ...rest] = objects;
  return Object.keys(first).filter((key) => rest.every((other) => key in other));
}

/** Returns the keys that any of the objects has. */
export function allKeys(objects: readonly object[]): string[] {
  return [...new Set(objects.flatMap((each) => Object.keys(each)))];
}

/** Fails unless the object has all of the keys. */
export function expectKeys(actual: object, expected: readonly string[]): void {
  expect(Object.keys(actual)).toEqual(expect.arrayContaining([...expected]));
}
