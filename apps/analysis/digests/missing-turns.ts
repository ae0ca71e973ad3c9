import { DIGEST_MODES } from '#contracts';
import type { Database } from '#postgres';
import { syncWithChannels } from './digest-turns.js';

/** Maximum number of keywords in one call. */
const MAX_KEYWORDS = 1000;

/**
 * Plans the digests of channels that have no turn although their keyword is not retired. This happens after a loss of
 * Postgres: the turns were lost, and the changes of keywords that created them are not delivered again.
 * @param lastSeq the last sequence of EVENTS
 * @returns true if there can be more such keywords
 */
export async function planMissingTurns(database: Database, lastSeq: number, now: number): Promise<boolean> {
  const rows = await database.query<{ keyword_id: string }[]>(
    `SELECT k.keyword_id FROM keywords k
     WHERE k.state <> 'retired' AND EXISTS (
       SELECT 1 FROM jsonb_array_elements(COALESCE(k.definition->'channels', '[]')) AS c
       WHERE c->>'mode' = ANY ($1) AND NOT EXISTS (
         SELECT 1 FROM digest_turns t
         WHERE t.keyword_id = k.keyword_id AND t.channel_id = (c->>'channelId')::uuid AND t.mode = c->>'mode'))
       AND EXISTS (SELECT 1 FROM accounts a WHERE a.account_id = k.account_id)
     LIMIT $2`,
    [DIGEST_MODES, MAX_KEYWORDS],
  );
  if (rows.length === 0) return false;
  const ids = rows.map((row) => row.keyword_id);
  await syncWithChannels(database, ids, lastSeq, now);
  return rows.length === MAX_KEYWORDS;
}
