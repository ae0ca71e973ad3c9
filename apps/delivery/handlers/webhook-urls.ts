import { Refusal } from '#kernel';
import type { Database } from '#postgres';

/** The owner of a webhook: exactly one of the two is not empty. */
export interface WebhookOwner {
  keywordId: string;
  watchId: string;
}

/**
 * Returns the present webhook URL of a keyword or watch; empty if there is no URL. The keyword or watch can be retired.
 * @throws Refusal `not-found` if the account has no such keyword or watch
 */
export async function presentWebhook(
  database: Database,
  accountId: string,
  { keywordId, watchId }: WebhookOwner,
): Promise<string> {
  const rows: { url: string | null }[] = keywordId
    ? await database.query(
        `SELECT definition->>'webhookUrl' AS url FROM keywords WHERE keyword_id = $1 AND account_id = $2`,
        [keywordId, accountId],
      )
    : await database.query('SELECT webhook_url AS url FROM watches WHERE watch_id = $1 AND account_id = $2', [
        watchId,
        accountId,
      ]);
  const [row] = rows;
  if (!row) throw Refusal.notFound(keywordId ? 'keyword' : 'watch');
  return row.url ?? '';
}

/** @throws Refusal `conflict` if the endpoint is disabled, because nothing would be sent to it */
export async function requireEnabled(database: Database, accountId: string, url: string): Promise<void> {
  const rows: { reason: string }[] = await database.query(
    `SELECT coalesce(disabled_reason, '') AS reason FROM webhook_endpoints
     WHERE account_id = $1 AND endpoint = $2 AND disabled_at IS NOT NULL`,
    [accountId, url],
  );
  if (rows[0])
    throw Refusal.conflict(
      `the endpoint is disabled (${rows[0].reason}); POST /v1/endpoints/enable enables it`,
    );
}
