import { Inject, Injectable } from '@nestjs/common';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';

/** A webhook address of an account: the keywords and watches that use it, and its state. */
export interface EndpointRow {
  url: string;
  keyword_ids: string[];
  /** Ids of watches without a keyword. */
  watch_ids: string[];
  failing_since: Date | null;
  failures: number;
  last_status_code: number | null;
  disabled_at: Date | null;
  disabled_reason: string | null;
  /** Number of deliveries that wait for an attempt, the first or a later one. */
  waiting: number;
}

/** Reads webhook addresses: those of keywords and watches, and other addresses that fail or are disabled. */
@Injectable()
export class EndpointReads {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /**
   * Returns at most `limit` + 1 addresses after `after`, in ascending order. The additional address shows that there is
   * another page.
   */
  endpoints(accountId: string, limit: number, after: string): Promise<EndpointRow[]> {
    return this.read(accountId, 'u.url COLLATE "C" > $2', after, limit + 1);
  }

  async endpoint(accountId: string, url: string): Promise<EndpointRow | undefined> {
    return (await this.read(accountId, 'u.url = $2', url, 1))[0];
  }

  private read(accountId: string, condition: string, value: string, max: number): Promise<EndpointRow[]> {
    return this.database.query(
      `WITH named AS (
         SELECT NULLIF(definition->>'webhookUrl', '') AS url, keyword_id, NULL::uuid AS watch_id FROM keywords
         WHERE account_id = $1 AND state <> 'retired'
         UNION ALL
         SELECT webhook_url, NULL, watch_id FROM watches
         WHERE account_id = $1 AND keyword_id IS NULL AND retired_at IS NULL
         UNION ALL
         SELECT endpoint, NULL, NULL FROM webhook_endpoints
         WHERE account_id = $1 AND (failing_since IS NOT NULL OR disabled_at IS NOT NULL) AND endpoint NOT LIKE 'channel:%'),
       u AS (
         SELECT url, array_remove(array_agg(keyword_id::text ORDER BY keyword_id), NULL) AS keyword_ids,
           array_remove(array_agg(watch_id::text ORDER BY watch_id), NULL) AS watch_ids
         FROM named WHERE url IS NOT NULL GROUP BY url)
       SELECT u.*, e.failing_since, coalesce(e.failures, 0) AS failures, e.last_status_code, e.disabled_at, e.disabled_reason,
         (SELECT count(*)::int FROM pending_deliveries p WHERE p.account_id = $1 AND p.endpoint = u.url) AS waiting
       FROM u LEFT JOIN webhook_endpoints e ON e.account_id = $1 AND e.endpoint = u.url
       WHERE ${condition} ORDER BY u.url COLLATE "C" LIMIT $3`,
      [accountId, value, max],
    );
  }
}
