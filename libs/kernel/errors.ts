/** One fault of a request: where (`sources[0].searches[1].overrides.match`) and what. */
export interface Fault {
  path: string;
  message: string;
  /** A specific code, returned when this is the only fault; otherwise the code is `VALIDATION`. */
  code?: string;
}

/**
 * Why a request is refused. The HTTP status of each kind is in libs/transport (`STATUS_OF`).
 *
 * - `not-covered`: credits or plan do not cover it
 * - `unprocessable`: it is valid, and contradicts an earlier request
 * - `internal`, `unavailable`: the request is not at fault
 */
export type RefusalKind =
  | 'invalid'
  | 'unauthenticated'
  | 'not-covered'
  | 'forbidden'
  | 'not-found'
  | 'conflict'
  | 'too-large'
  | 'unprocessable'
  | 'too-many'
  | 'internal'
  | 'unavailable';

/**
 * An error for the caller: its kind, a machine code, a message for people.
 * Any other error is a defect or an outage, and the caller gets `internal` or `unavailable` without its text.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly kind: RefusalKind,
    readonly code: string,
    message: string,
    readonly details?: readonly Fault[],
  ) {
    super(message);
  }

  /**
   * For a request that is at fault. The message tells the first fault and how many there are; `details` holds the
   * first 50 of them.
   * @param spell rewrites a fault before it is put into the answer; called for the first 50 alone
   */
  static validation(faults: readonly Fault[], spell = (fault: Fault): Fault => fault): Refusal {
    const details = faults
      .slice(0, MOST_FAULTS)
      .map(spell)
      .map(({ path, message }) => ({ path: shortened(path), message: shortened(message) }));
    const first = details[0];
    const text = first ? [first.path, first.message].filter(Boolean).join(': ') : 'the request is not valid';
    const code = (faults.length === 1 && faults[0]?.code) || 'VALIDATION';
    return new Refusal('invalid', code, `${text}${countText(faults.length)}`, details);
  }

  static notFound(what: string): Refusal {
    return new Refusal('not-found', 'NOT_FOUND', `${what} not found`);
  }

  static conflict(message: string, code = 'CONFLICT'): Refusal {
    return new Refusal('conflict', code, message);
  }

  /** @param needed what the work can cost at the most, in credits */
  static insufficientCredits(needed: number, available: number): Refusal {
    const message = `${needed} ${needed === 1 ? 'credit is' : 'credits are'} needed, ${available} ${available === 1 ? 'is' : 'are'} left`;
    return new Refusal('not-covered', 'INSUFFICIENT_CREDITS', message, [{ path: 'credits', message }]);
  }

  static tooLarge(message: string): Refusal {
    return new Refusal('too-large', 'PAYLOAD_TOO_LARGE', message);
  }

  static unavailable(message: string): Refusal {
    return new Refusal('unavailable', 'UNAVAILABLE', message);
  }
}

/** So many are enough for somebody who mends them one by one. */
const MOST_FAULTS = 50;
/** Characters of a path or message that quotes what the sender wrote. */
const LONGEST_QUOTE = 500;

function countText(faults: number): string {
  if (faults <= 1) return '';
  return faults <= MOST_FAULTS
    ? ` (1 of ${faults} faults; details has them all)`
    : ` (1 of ${faults} faults; details has the first ${MOST_FAULTS})`;
}

function shortened(text: string): string {
  return text.length <= LONGEST_QUOTE ? text : `${text.slice(0, LONGEST_QUOTE)}…`;
}

/** A message of NATS holds 1 MiB with its headers, unless its server is set otherwise. */
const LARGEST_MESSAGE_BYTES = 900 * 1024;

/**
 * @param remedy what can be done about it
 * @throws Refusal `too-large` when something would not fit into a message
 */
export function refuseOversize(what: string, bytes: number, remedy?: string): void {
  if (bytes > LARGEST_MESSAGE_BYTES)
    throw Refusal.tooLarge(
      `${what} is too large: it comes to ${Math.ceil(bytes / 1024)} KiB, and ${LARGEST_MESSAGE_BYTES / 1024} KiB can be stored at once${remedy ? `; ${remedy}` : ''}`,
    );
}

/**
 * A store that cannot be reached, or that cannot answer now: thrown by the libraries that talk to it, where they know
 * that the request itself was not at fault. Whatever is under way is tried again.
 */
export class Outage extends Error {
  override readonly name = 'Outage';

  constructor(
    readonly store: 'ClickHouse' | 'NATS' | 'Postgres',
    cause: unknown,
  ) {
    super(`${store}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
