/** One fault of a request: its path (`sources[0].searches[1].overrides.match`) and a message. */
export interface Fault {
  path: string;
  message: string;
  /** A specific code, returned if this is the only fault; otherwise the code is `VALIDATION`. */
  code?: string;
}

/**
 * Why a request is refused. The HTTP status of each kind is in libs/transport (`HTTP_STATUS`).
 *
 * - `not-covered`: credits or plan do not cover the request
 * - `unprocessable`: the request is valid, but contradicts an earlier request
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
 * An error for the caller: its kind, a code for programs, a message for people.
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
   * Returns a refusal of an invalid request. The message contains the first fault, and the number of faults if there
   * are several; `details` contains the first 50. A path or message longer than 500 characters is cut.
   * @param faults if empty, the message says only that the request is invalid
   * @param rewrite rewrites a fault before it is added; called only for the first 50
   */
  static validation(faults: readonly Fault[], rewrite = (fault: Fault): Fault => fault): Refusal {
    const details = faults
      .slice(0, MAX_FAULTS)
      .map(rewrite)
      .map(({ path, message }) => ({ path: shortened(path), message: shortened(message) }));
    const first = details[0];
    const text = first ? [first.path, first.message].filter(Boolean).join(': ') : 'the request is invalid';
    const code = (faults.length === 1 && faults[0]?.code) || 'VALIDATION';
    return new Refusal('invalid', code, `${text}${countText(faults.length)}`, details);
  }

  static notFound(what: string): Refusal {
    return new Refusal('not-found', 'NOT_FOUND', `${what} not found`);
  }

  static conflict(message: string, code = 'CONFLICT'): Refusal {
    return new Refusal('conflict', code, message);
  }

  /**
   * Returns the refusal of work that the credits do not cover.
   * @param needed the maximum cost of the work, in credits
   * @param available the credits that the account can still use
   */
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

/** Maximum number of faults in `details`: enough for a person who corrects them one by one. */
const MAX_FAULTS = 50;
/**
 * Maximum length of a path or message in `details`, without the `…` of a cut text: paths and messages can contain the
 * text of the sender.
 */
const MAX_FAULT_TEXT = 500;

function countText(faults: number): string {
  if (faults <= 1) return '';
  return faults <= MAX_FAULTS
    ? ` (1 of ${faults} faults; details has them all)`
    : ` (1 of ${faults} faults; details has the first ${MAX_FAULTS})`;
}

function shortened(text: string): string {
  return text.length <= MAX_FAULT_TEXT ? text : `${text.slice(0, MAX_FAULT_TEXT)}…`;
}

/**
 * Maximum size of a message without its headers. By default, NATS accepts messages of up to 1 MiB with their headers.
 */
const MAX_MESSAGE_BYTES = 900 * 1024;

/**
 * Refuses more bytes than a message can have (900 KiB); otherwise does nothing.
 * @param what the thing that is too large, as the text names it, for example `the request`
 * @param remedy advice for the caller
 * @throws Refusal `too-large`
 */
export function refuseOversize(what: string, bytes: number, remedy?: string): void {
  if (bytes > MAX_MESSAGE_BYTES)
    throw Refusal.tooLarge(
      `${what} is too large: it has ${Math.ceil(bytes / 1024)} KiB, and the maximum is ${MAX_MESSAGE_BYTES / 1024} KiB${remedy ? `; ${remedy}` : ''}`,
    );
}

/**
 * A store or server cannot be reached or cannot answer now. Code that uses a store throws this error if the request
 * itself was valid. A consumer gets its messages again; the gateway answers 503.
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
