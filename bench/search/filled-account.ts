import { Pool } from 'undici';
import { insertRows, NO_ID, selectRows, type ClickHouseClient, type MentionVectorRow } from '#clickhouse';
import { EMBEDDINGS_SETTINGS, LOCAL_EMBEDDINGS, openEmbedder } from '#embeddings';
import { readSettings } from '#config';
import { newId } from '#kernel';
import type { Database } from '#postgres';
import { fundAccount } from '#testing';
import { vectorRows } from '../../apps/analysis/search/mention-vectors.js';
import { openBenchAccount, type BenchAccount } from '../account.js';
import { printProgress } from '../harness.js';

const BATCH = 100_000;
const DAYS = 29;
const CREDITS = 1_000_000_000;

/** Opens an account with enough credits for all questions of the bench. */
export async function openAsker(database: Database): Promise<BenchAccount> {
  const account = await openBenchAccount(database);
  await fundAccount(database, account.accountId, CREDITS);
  return account;
}

/** Stores texts as mentions that can be searched. @returns their ids, in order */
export async function storeTexts(
  clickhouse: ClickHouseClient,
  accountId: string,
  texts: readonly string[],
): Promise<string[]> {
  const embedder = openEmbedder(readSettings(EMBEDDINGS_SETTINGS, {}), 'bench');
  const occurredAt = new Date(Date.now() - 3_600_000).toISOString();
  const mentions = texts.map((text) => ({
    accountId,
    occurredAt,
    eventId: newId(),
    keywordId: NO_ID,
    source: 'rss',
    dropped: false,
    explored: false,
    title: '',
    text,
    titleOfParent: false,
  }));
  const rows = await vectorRows(embedder, mentions);
  await embedder.close();
  await insertRows<MentionVectorRow>(clickhouse, 'mention_vectors', rows);
  await insertRows(
    clickhouse,
    'mentions',
    mentions.map(({ eventId, text }) => ({
      account_id: accountId,
      occurred_at: occurredAt,
      event_id: eventId,
      source: 'rss',
      text,
      matches: '[]',
      media: '[]',
      verdicts: '[]',
      readings: '[]',
    })),
  );
  return mentions.map(({ eventId }) => eventId);
}

/** Writes mentions with random vectors and words over a month. The server generates the rows. */
export async function fillAccount(
  clickhouse: ClickHouseClient,
  accountId: string,
  count: number,
): Promise<void> {
  for (let from = 0; from < count; from += BATCH) {
    const part = { accountId, count, from, batch: Math.min(BATCH, count - from), model: LOCAL_EMBEDDINGS };
    const at = `toDateTime64('${new Date().toISOString().slice(0, 19)}', 3, 'UTC')
      - toIntervalMillisecond(intDiv(({count: UInt64} - number) * ${DAYS * 86_400_000}, {count: UInt64}))`;
    const id = `reinterpretAsUUID(MD5(concat({accountId: String}, toString(number))))`;
    const rows = 'FROM numbers({from: UInt64}, {batch: UInt64})';
    await clickhouse.command({
      query: `INSERT INTO mention_vectors (account_id, model, occurred_at, event_id, keyword_id, source, dropped, embedding, words)
        SELECT toUUID({accountId: String}), {model: String}, ${at}, ${id}, toUUID('${NO_ID}'),
          ['hackernews', 'reddit', 'bluesky', 'rss'][number % 4 + 1], number % 10 = 0,
          arrayMap(n -> toBFloat16(randNormal(0, 0.088, n + number * 0)), range(128)),
          arrayMap(n -> toUInt32(exp(log(50000) * randCanonical(n + number * 0)) * 80000), range(5 + number % 20))
        ${rows}`,
      query_params: part,
    });
    await clickhouse.command({
      query: `INSERT INTO mentions (account_id, occurred_at, event_id, source, type, kind, item_id, url, title, text, author,
          lang, matches, matched_terms, match_mode, media, verdicts, readings, dropped_reason)
        SELECT toUUID({accountId: String}), ${at}, ${id}, ['hackernews', 'reddit', 'bluesky', 'rss'][number % 4 + 1],
          'post.created', 'post', toString(number), concat('https://example.org/posts/', toString(number)),
          concat('Post ', toString(number), ' about acme'),
          concat('All about acme: ', hex(MD5(toString(number))), repeat(' and more of it', 10)),
          concat('author', toString(number % 5000)), 'en', '[{"term":"acme","field":"text","start":10,"end":14}]',
          ['acme'], 'word', '[]', '[]', '[]', if(number % 10 = 0, 'muted', '')
        ${rows}`,
      query_params: part,
    });
    if (count > BATCH) printProgress(`${(from + part.batch).toLocaleString('en')} mentions written`);
  }
}

/** Waits for the merges of ClickHouse to end, at most a minute. */
export async function settle(
  clickhouse: ClickHouseClient,
  wait: (ms: number) => Promise<unknown>,
): Promise<void> {
  const end = Date.now() + 60_000;
  const merging = async () =>
    Number((await selectRows<{ n: string }>(clickhouse, 'SELECT count() AS n FROM system.merges'))[0]?.n);
  while ((await merging()) > 0 && Date.now() < end) await wait(250);
}

/** Asks questions at the gateway, one at a time. */
export class Asker {
  private readonly pool: Pool;

  constructor(
    url: string,
    private readonly account: BenchAccount,
  ) {
    this.pool = new Pool(url, { connections: 1 });
  }

  /** @returns the ids of the mentions, best first */
  async ask(question: string, limit: number, more = ''): Promise<string[]> {
    const since = new Date(Date.now() - 31 * 86_400_000).toISOString();
    const path = `/v1/mentions?mode=semantic&limit=${limit}&since=${since}&q=${encodeURIComponent(question)}${more}`;
    const headers = { 'x-api-key': this.account.apiKey };
    const { statusCode, body } = await this.pool.request({ method: 'GET', path, headers });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`${path} was answered ${statusCode}: ${text}`);
    return (JSON.parse(text) as { data: { id: string }[] }).data.map(({ id }) => id);
  }

  close(): Promise<void> {
    return this.pool.close();
  }
}
