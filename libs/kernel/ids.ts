import { hash } from 'node:crypto';
import { v7, validate } from 'uuid';

// Never change this value: the ids of stored facts are derived from it.
const NAMESPACE = Buffer.from('6f1c2f5e3b0a5e0c9d2b0a6f8b6d4c11', 'hex');

/** Buffer for the namespace and the content of a fact. Longer content, which is rare, gets a separate buffer. */
const scratch = Buffer.concat([NAMESPACE], 4096);

/**
 * Buffer in which the text of an id is built. Its characters are written one by one, because joining strings creates
 * several times as much garbage.
 */
const idText = Buffer.from('00000000-0000-5000-8000-000000000000');
/** The offsets of the hexadecimal digits in an id. */
const POSITIONS = [...idText.keys()].filter((at) => idText[at] !== '-'.charCodeAt(0));
const VERSION_AT = 14;
const VARIANT_AT = 19;
/** The variant digit for each digit of the hash: its two upper bits become 10. */
const VARIANTS = '89ab89ab89ab89ab';

/** Makes a new id (UUIDv7, ordered by time) for something that is created: an account, a keyword, a watch. */
export function newId(): string {
  return v7();
}

/**
 * Returns the id of a fact (UUIDv5), derived from the content of the fact, so that the same fact never gets two ids.
 */
export function derivedId(...parts: readonly string[]): string {
  // RFC 9562, section 5.5. Every event and attempt has such an id. The package `uuid` is not used, because it takes
  // several times as long.
  const content = JSON.stringify(parts);
  const max = NAMESPACE.length + 3 * content.length;
  const name = max > scratch.length ? Buffer.concat([NAMESPACE], max) : scratch;
  const digest = hash('sha1', name.subarray(0, NAMESPACE.length + name.write(content, NAMESPACE.length)));
  for (let n = 0; n < POSITIONS.length; n += 1) idText[POSITIONS[n]!] = digest.charCodeAt(n);
  idText[VERSION_AT] = '5'.charCodeAt(0);
  idText[VARIANT_AT] = VARIANTS.charCodeAt(parseInt(digest.charAt(16), 16));
  return idText.toString('latin1');
}

/** Returns the id of the check of one watch for one tick (ISO 8601). */
export function checkIdOf(watchId: string, tick: string): string {
  return derivedId('check', watchId, tick);
}

/**
 * Returns the id of the charge for a fact (a check, a lookup), or for one priced part of it (a reading of an event).
 */
export function chargeIdOf(reference: string, part?: string): string {
  return derivedId('charge', reference, ...(part === undefined ? [] : [part]));
}

/** Returns the id of an event and of its mention: one watch, one item, one change (`created` by default). */
export function eventIdOf(watchId: string, itemId: string, change = 'created'): string {
  return derivedId('event', watchId, itemId, change);
}

/** Returns the id of one source's answer to an Explore; the charge of the answer refers to this id. */
export function exploredIdOf(exploreId: string, source: string): string {
  return derivedId('explored', exploreId, source);
}

/**
 * Returns the id of an account's webhook address that is the target of deliveries. The address can contain a secret;
 * the id does not.
 */
export function endpointIdOf(accountId: string, url: string): string {
  return derivedId('endpoint', accountId, url);
}

/**
 * Returns true if the text is a UUID of RFC 9562: 32 hexadecimal digits with hyphens, with a valid version and variant,
 * or all digits 0, or all digits f.
 */
export function isId(text: string): boolean {
  return validate(text);
}
