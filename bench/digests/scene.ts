import { newId } from '#kernel';
import type { Database } from '#postgres';
import { openBenchAccount } from '../account.js';

/** The `PUBLIC_URL` of the bench. It only appears in the mails; nothing listens there. */
export const PUBLIC_URL = 'http://127.0.0.1:8080';

/** A keyword and its email channel. */
export interface DigestedKeyword {
  accountId: string;
  keywordId: string;
  channelId: string;
}

/** Returns the verified address of a channel of the bench. */
export function addressOf(channelId: string): string {
  return `${channelId}@example.org`;
}

/** Writes keywords into the tables, each with a separate email channel and with items for a digest. */
export async function fillKeywords(
  database: Database,
  count: number,
  items: number,
): Promise<DigestedKeyword[]> {
  const { accountId } = await openBenchAccount(database);
  const keywords = Array.from({ length: count }, () => ({
    accountId,
    keywordId: newId(),
    channelId: newId(),
  }));
  const keywordIds = keywords.map(({ keywordId }) => keywordId);
  const channelIds = keywords.map(({ channelId }) => channelId);
  const addresses = channelIds.map(addressOf);
  await database.query(
    `INSERT INTO keywords (keyword_id, account_id, name, state, definition, created_at, updated_at, version)
     SELECT k, $3, 'Acme', 'active',
       jsonb_build_object('channels', jsonb_build_array(jsonb_build_object('channelId', c, 'mode', 'daily'))), now(), now(), 1
     FROM unnest($1::uuid[], $2::uuid[]) AS u (k, c)`,
    [keywordIds, channelIds, accountId],
  );
  await database.query(
    `INSERT INTO channels (channel_id, account_id, kind, name, state, config, addresses, created_at, updated_at)
     SELECT c, $3, 'email', 'Mail', 'active', '{}', ARRAY[a], now(), now() FROM unnest($1::uuid[], $2::text[]) AS u (c, a)`,
    [channelIds, addresses, accountId],
  );
  await database.query(
    `INSERT INTO channel_addresses (channel_id, address, state) SELECT c, a, 'verified' FROM unnest($1::uuid[], $2::text[]) AS u (c, a)`,
    [channelIds, addresses],
  );
  await database.query(
    `INSERT INTO digest_items (keyword_id, seq, event_id, occurred_at, item)
     SELECT k, -n, gen_random_uuid(), now(), jsonb_build_object('bucket', null, 'storyId', null, 'own', repeat('word ', 60),
       'item', jsonb_build_object('mentionId', gen_random_uuid(), 'source', 'reddit', 'kind', 'post', 'url', null,
         'title', 'A title', 'excerpt', repeat('word ', 60), 'vip', false, 'labels', '[]'::jsonb))
     FROM unnest($1::uuid[]) AS k CROSS JOIN generate_series(1, $2::int) AS n`,
    [keywordIds, items],
  );
  // Autovacuum would analyse the tables up to a minute later.
  await database.query('ANALYZE keywords, channels, channel_addresses, digest_items');
  return keywords;
}

/** Makes a daily digest of each keyword due now. */
export async function makeDue(database: Database, keywords: readonly DigestedKeyword[]): Promise<void> {
  await database.query(
    `INSERT INTO digest_turns (keyword_id, channel_id, mode, account_id, timezone, period_from, after_seq, due_at)
     SELECT k, c, 'daily', a, 'UTC', now() - interval '1 day', -1000000, now()
     FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS u (k, c, a)`,
    [
      keywords.map(({ keywordId }) => keywordId),
      keywords.map(({ channelId }) => channelId),
      keywords.map(({ accountId }) => accountId),
    ],
  );
}
