import type { QuotaResult } from './request-quota.js';

const WINDOW_SECONDS = 60;

/**
 * Returns the quota headers of a response: in the form of the IETF draft
 * (https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/), and in the older form.
 */
export function rateLimitHeaders({ limit, remaining, resetSeconds }: QuotaResult): Record<string, string> {
  return {
    'ratelimit-policy': `"default";q=${limit};w=${WINDOW_SECONDS}`,
    ratelimit: `"default";r=${remaining};t=${resetSeconds}`,
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': String(resetSeconds),
  };
}
