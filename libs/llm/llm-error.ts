/**
 * Why a language model gave no usable answer. `rate_limited`, `server_error`, `network`, `timeout`: the same request
 * can succeed later. `deadline`: the caller's deadline passed while the request was under way. `no_turn`: the request
 * was not sent, because it would have to wait too long. `refused`: the server does not accept the request (wrong token,
 * unknown model). `too_large`: the answer is longer than any valid answer.
 */
export type LlmErrorKind =
  | 'rate_limited'
  | 'server_error'
  | 'network'
  | 'timeout'
  | 'deadline'
  | 'no_turn'
  | 'refused'
  | 'too_large';

/** Kinds of failures of the server or the connection, after which the same request can succeed. */
const TEMPORARY: ReadonlySet<LlmErrorKind> = new Set(['rate_limited', 'server_error', 'network', 'timeout']);

/** A request to the language model failed. The message is for the operator and never contains the token. */
export class LlmError extends Error {
  override readonly name = 'LlmError';

  constructor(
    readonly kind: LlmErrorKind,
    message: string,
    /** How long to wait before the next request, in ms: the time that the server or, with `no_turn`, the lane gave. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }

  /** True if the server or the connection failed, so that the same request can succeed later. */
  get isTemporary(): boolean {
    return TEMPORARY.has(this.kind);
  }
}
