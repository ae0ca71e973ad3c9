import { v5, v7, validate } from 'uuid';

// Never change: ids of facts already stored were derived from it.
const NAMESPACE = '6f1c2f5e-3b0a-5e0c-9d2b-0a6f8b6d4c11';

/** A new, time-ordered id (UUIDv7) for a thing that is made: an account, a keyword, a watch. */
export function newId(): string {
  return v7();
}

/**
 * The id of a fact (UUIDv5), derived from what the fact stands for, so that the same fact never gets two ids.
 * Parts are joined unambiguously: `('a', 'b')` and `('a b')` differ.
 */
export function derivedId(...parts: readonly string[]): string {
  return v5(JSON.stringify(parts), NAMESPACE);
}

/** The id of the check of one watch for one tick (ISO 8601). */
export function checkIdOf(watchId: string, tick: string): string {
  return derivedId('check', watchId, tick);
}

/** The id of an event and of its mention: one watch, one item, one change (`created` where there is no other). */
export function eventIdOf(watchId: string, itemId: string, change = 'created'): string {
  return derivedId('event', watchId, itemId, change);
}

/** True when the text is a UUID in its usual spelling. */
export function isId(text: string): boolean {
  return validate(text);
}
