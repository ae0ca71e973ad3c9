import type { RefusalKind } from '#kernel';

/** The HTTP status of each kind of refusal. The gateway responds with it, and replies between services contain it. */
export const HTTP_STATUS: Readonly<Record<RefusalKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  'not-covered': 402,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  'too-large': 413,
  unprocessable: 422,
  'too-many': 429,
  internal: 500,
  unavailable: 503,
};

const KINDS = new Map(
  Object.entries(HTTP_STATUS).map(([kind, status]) => [status, kind as RefusalKind] as const),
);

/** Returns the kind of a refusal that a service sent; `internal` for a status that this release does not know. */
export function refusalKindOf(status: number): RefusalKind {
  return KINDS.get(status) ?? 'internal';
}
