const MAX_WAIT_MS = 24 * 3_600_000;

/**
 * Returns how long Earshot must wait before the next request for a feed, in ms: the time that the publisher states, at
 * most a day; 0 if the publisher states no time.
 * @param ttl from RSS, in minutes
 */
export function publisherWaitMsOf(
  headers: Readonly<Record<string, string>>,
  ttl: number | undefined,
): number {
  const control = headers['cache-control'] ?? '';
  const maxAge = /\b(?:no-cache|no-store)\b/i.test(control)
    ? undefined
    : /\bmax-age\s*=\s*"?(\d{1,9})/i.exec(control);
  const waits = [Number(maxAge?.[1] ?? 0) * 1000, (ttl ?? 0) * 60_000].filter(
    (ms) => ms > 0 && ms < Infinity,
  );
  return Math.min(MAX_WAIT_MS, Math.max(0, ...waits));
}
