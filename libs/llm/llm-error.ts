/**
 * Why a language model gave no usable answer. `rate_limited`, `server_error`, `network`, `timeout`: the same request
 * may succeed later. `deadline`: the caller's deadline passed while the request was under way. `no_turn`: the request
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

/** Kinds after which the same request may succeed. */
const TEMPORARY: ReadonlySet<LlmErrorKind> = new Set(['rate_limited', 'server_error', 'network', 'timeout']);

/** A request to the language model failed. The message is for the operator and never contains the token. */
export class LlmError extends Error {
  override readonly name = 'LlmError';

  constructor(
    readonly kind: LlmErrorKind,
    message: string,
    /** How long the server asked to wait, in ms. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }

  /** True if the same request may succeed later. */
  get isTemporary(): boolean {
    return TEMPORARY.has(this.kind);
  }
}
