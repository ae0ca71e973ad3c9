import type { Page } from 'playwright-core';
import {
  insertRows,
  type ActivityRow,
  type AnswerRow,
  type AttemptRow,
  type ClickHouseClient,
  type MentionRow,
} from '#clickhouse';
import type { Digest } from '#contracts';
import { newId } from '#kernel';
import type { Database } from '#postgres';
import type { Json } from '#testing';
import { observation, observe } from '../interface/observed-listings.js';
import { call } from './installation.js';
import { leavesOf } from './schema-paths.js';

/** Returns a text of an attacker: it closes every element and attribute that could contain it, and then runs code. */
export const hostile = (field: string) => `${field}"'></script><img/src/onerror=hit=1><svg/onload=hit=1>`;

/** Returns a hostile text that ends with 900 letters. No line can break between these letters. */
const long = (field: string) => hostile(field) + 'W'.repeat(900);

const SCRIPT_LINK = 'javascript:hit=2';
const DATA_LINK = 'data:text/html,<script>parent.hit=3</script>';

/** The columns with the account, the keyword and the watch of a row. */
type Owner = Pick<MentionRow, 'account_id' | 'keyword_id' | 'watch_id'>;

const now = () => new Date().toISOString();

/** Returns a keyword that never runs: the tests write its mentions and answers themselves. */
export const sleepingKeyword = (name: string, prompt: string, more: object = {}) => ({
  name,
  refreshIntervalSeconds: 86_400,
  globalCriteria: { market: 'fr', query: 'lamp', filters: { prompt, brands: ['Lumora', 'Northwind'] } },
  sources: ['ai_answers', 'vinted'].map((source) => ({ source, enabled: true })),
  schedule: { startsAt: '2099-01-01T00:00:00Z', endsAt: null, timezone: 'UTC' },
  ...more,
});

/**
 * Returns the row of a mention with the present time. ClickHouse sets the columns that are missing in the row to
 * their defaults.
 */
export const mentionRow = (owner: Owner, more: Partial<MentionRow>): Partial<MentionRow> => ({
  ...owner,
  ...{ event_id: newId(), check_id: newId(), item_id: newId(), occurred_at: now() },
  ...{ source: 'hackernews', type: 'hn_item.created', kind: 'story', url: 'https://example.org/1' },
  ...{ match_mode: 'word', matches: '[]', media: '[]', verdicts: '[]', readings: '[]' },
  ...more,
});

/** Returns an answer of an engine with the present time. */
export const answerRow = (owner: Owner, more: Partial<AnswerRow>): AnswerRow => ({
  ...owner,
  ...{ check_id: newId(), engine: 'openai', model: 'model-1', market: 'global', answered_at: now() },
  ...{ prompt: 'Which lamp?', text: '', citations: '[]', queries: [] },
  ...more,
});

interface Stores {
  clickhouse: ClickHouseClient;
  database: Database;
}

/** Writes hostile text into the fields that members, posts, AI engines and receivers of webhooks can fill. */
export async function writeHostileFields(page: Page, { clickhouse, database }: Stores, accountId: string) {
  const { id: keyword_id, watches } = await writeSettings(page);
  const [watch, asked] = ['hackernews', 'ai_answers'].map((wanted) => {
    const { id: watch_id } = watches.find(({ source }: { source: string }) => source === wanted);
    return { account_id: accountId, keyword_id, watch_id } as Owner;
  }) as [Owner, Owner];
  await call(page, 'POST', '/v1/replays', {
    keyword_id,
    since: now(),
    url: `https://example.org/${hostile('path')}`,
  });
  const mention = hostileMention(watch);
  const dropped = mentionRow(watch, {
    ...{ dropped_reason: 'muted', dropped_rule: long('dropped by'), text: hostile('untitled') },
  });
  await insertRows(clickhouse, 'mentions', [mention, dropped]);
  await insertRows(clickhouse, 'answers', [hostileAnswer(asked)]);
  await insertRows(
    clickhouse,
    'attempts',
    ['webhook', 'digest'].map((kind) => hostileAttempt(watch, kind)),
  );
  await insertRows<Partial<ActivityRow>>(clickhouse, 'activity', [
    {
      ...{ ...watch, activity_id: newId(), occurred_at: now(), source: 'hackernews' },
      ...{ type: 'poll.failed', message: long('activity') },
    },
  ]);
  const listing = { observed_at: now(), first_seen_at: now(), event: 'created' };
  const hostileListing = { ...listing, keyword_id, market: hostile('market'), currency: hostile('currency') };
  await observe(clickhouse, [observation(accountId, hostileListing)]);
  await writeEndpoint(database, accountId);
  await writeReport(database, accountId, keyword_id);
  return {
    ...{ keywordId: keyword_id as string, mentionId: mention.event_id ?? '' },
    mentionIds: [mention, dropped].map(({ event_id }) => event_id ?? ''),
  };
}

/** Writes hostile text into the names and texts that members of the account can choose. @returns the keyword */
async function writeSettings(page: Page) {
  await call(page, 'PATCH', '/v1/account', { name: hostile('account') });
  const [lumora] = (await call(page, 'GET', '/v1/keywords?q=Lumora')).data;
  await call(page, 'PATCH', `/v1/keywords/${lumora.id}`, { name: hostile('charged') });
  const { id: channelId } = await call(page, 'POST', '/v1/channels', {
    ...{ kind: 'webhook', name: hostile('channel') },
    config: { url: `https://example.org/${hostile('path')}` },
  });
  await call(page, 'POST', '/v1/views', { name: hostile('view'), query: 'q=lamp' });
  await call(page, 'POST', '/v1/keys', { name: hostile('key'), scope: 'read' });
  await call(page, 'POST', '/v1/views', { [hostile('body key')]: 1 }).catch(
    () => 'it is refused, and the audit log shows its key',
  );
  const more = {
    sources: ['hackernews', 'ai_answers'].map((source) => ({
      ...{ source, enabled: true },
      searches: [
        {
          label: hostile('label'),
          overrides: { filters: { brands: [hostile('answer brand'), 'Lumora'] } },
        },
      ],
    })),
    channels: [{ channelId, mode: 'daily' }],
    rules: [
      {
        ...{ name: hostile('rule'), enabled: true, source: null },
        when: { kind: 'item', all: [{ field: 'text', op: 'contains', value: hostile('clause') }] },
        then: [{ type: 'mark', label: 'flagged' }],
      },
    ],
  };
  return call(page, 'POST', '/v1/keywords', sleepingKeyword(hostile('keyword'), hostile('prompt'), more));
}

/** Returns a hostile mention of a listing, because listings have the most fields. */
function hostileMention(watch: Owner): Partial<MentionRow> {
  const term = long('term');
  const clause = {
    ...{ field: hostile('field'), op: 'contains', value: hostile('value') },
    ...{ seen: hostile('seen'), holds: true },
  };
  const fired = {
    ruleId: newId(),
    name: hostile('fired'),
    fired: true,
    clauses: [clause],
    actions: ['mark'],
  };
  return mentionRow(watch, {
    ...{ source: 'vinted', kind: 'listing', type: 'listing.created' },
    ...{ title: long('title'), text: `${long('text')} ${term}`, community: long('community') },
    ...{ author: long('author'), author_name: long('authorName'), author_url: SCRIPT_LINK },
    ...{ url: DATA_LINK, media: JSON.stringify([{ url: SCRIPT_LINK, type: hostile('media') }]) },
    ...{ bucket: hostile('bucket key'), bucket_label: hostile('bucket'), sentiment: 'mixed', reader: 'llm' },
    ...{ lang: hostile('lang'), co_brands: [hostile('co-brand')] },
    matched_terms: [term],
    matches: JSON.stringify([{ term, field: 'text', start: 0, end: 4 }]),
    verdicts: JSON.stringify([{ step: 'mute', value: 'x', hit: true, detail: hostile('mute') }]),
    rule_outcomes: JSON.stringify([fired]),
    ai: JSON.stringify({
      ...{ status: 'completed', model: hostile('ai model'), version: hostile('ai version') },
      output: { [hostile('key of ai')]: hostile('value of ai') },
    }),
    reading_reason: hostile('reason'),
    readings: JSON.stringify([{ kind: 'language', reader: 'local', model: hostile('model'), version: '1' }]),
    listing: JSON.stringify({
      ...{ id: hostile('listing'), url: SCRIPT_LINK, author: hostile('seller handle') },
      ...{ brand: hostile('brand'), size: hostile('size'), condition: hostile('condition') },
      ...{ seller: { name: hostile('seller'), url: SCRIPT_LINK }, photos: [SCRIPT_LINK] },
    }),
  });
}

/** Texts of a mention that an attacker cannot choose, each with the reason. */
const CHOSEN_BY_EARSHOT: Readonly<Record<string, string>> = {
  type: 'one of the types of events',
  kind: 'a word that the connector of the source chooses',
  storyId: 'an id that Earshot calculates',
  'dropped.reason': 'one of four words',
};

/** Returns the paths of texts in the OpenAPI schema `Mention` that are hostile in none of these mentions. */
export function harmlessFields(mentions: readonly Json[]): string[] {
  const texts = leavesOf('Mention')
    .filter(({ schema: { type, format, enum: known } }) => type === 'string' && !format && !known)
    .map(({ path }) => path);
  const unknown = Object.keys(CHOSEN_BY_EARSHOT).filter((path) => !texts.includes(path));
  if (unknown.length > 0) throw new Error(`a mention has no ${unknown.join(', ')}`);
  const isHostile = (text: unknown) => /hit=\d/.test(String(text));
  return texts.filter(
    (path) => !(path in CHOSEN_BY_EARSHOT) && !mentions.some((one) => valuesAt(one, path).some(isHostile)),
  );
}

/** Returns the values at a path such as `media[].url`. */
function valuesAt(value: unknown, path: string): unknown[] {
  return path.split('.').reduce<unknown[]>(
    (values, part) => {
      const found = values.flatMap((one) => {
        const next = (one as Record<string, unknown> | null | undefined)?.[part.replace('[]', '')];
        return part.endsWith('[]') && Array.isArray(next) ? (next as unknown[]) : [next];
      });
      return found.filter((one) => one !== null && one !== undefined);
    },
    [value],
  );
}

const writeEndpoint = (database: Database, accountId: string) =>
  database.query(
    `INSERT INTO webhook_endpoints (account_id, endpoint, disabled_at, disabled_reason) VALUES ($1, $2, now(), $3)`,
    [accountId, `https://example.org/${hostile('endpoint')}`, hostile('endpoint reason')],
  );

/** The last part of the address of a report's page, as in the unsigned addresses of earlier releases. */
export const REPORT_TOKEN = 'hostile-report'.padEnd(32, '-');

async function writeReport(database: Database, accountId: string, keywordId: string): Promise<void> {
  const period = { from: '2026-11-09T08:00:00.000Z', to: '2026-11-16T08:00:00.000Z' };
  const [reportId, channelId] = [newId(), newId()];
  const url = `https://example.org/reports/${REPORT_TOKEN}`;
  const body: Digest = {
    ...{ id: reportId, mode: 'weekly_report', channelId, period, timezone: 'UTC', total: 1, more: 0 },
    ...{ keyword: { id: keywordId, name: hostile('keyword') }, priority: [], groups: [], summary: null },
    report: {
      ...{ reportId, url, volume: { count: 1, previous: 0, days: [] } },
      sentiment: { positive: 1, neutral: 0, negative: 0, mixed: 0, unread: 0 },
      sources: [{ source: 'hackernews', count: 1 }],
      authors: [{ author: long('top author'), source: 'hackernews', count: 1, vip: true }],
      stories: [
        { storyId: 's1', title: long('story'), url: SCRIPT_LINK, count: 1 },
        { storyId: 's2', title: long('second story'), url: DATA_LINK, count: 1 },
      ],
      alerts: [{ at: period.from, name: hostile('alert'), observed: 9, baseline: 1 }],
    },
  };
  await database.query(
    `INSERT INTO reports (report_id, account_id, keyword_id, channel_id, period_from, period_to, created_at, url, token, body)
     VALUES ($1, $2, $3, $4, $5, $6, now(), $7, $8, $9)`,
    [
      reportId,
      accountId,
      keywordId,
      channelId,
      period.from,
      period.to,
      url,
      REPORT_TOKEN,
      JSON.stringify(body),
    ],
  );
}

const hostileAnswer = (watch: Owner) =>
  answerRow(watch, {
    ...{ model: hostile('engine model'), prompt: hostile('prompt'), text: long('answer') },
    citations: JSON.stringify([
      { url: SCRIPT_LINK, title: long('cited') },
      { url: DATA_LINK, title: '' },
    ]),
  });

const hostileAttempt = (watch: Owner, kind: string): Partial<AttemptRow> => ({
  ...{ ...watch, event_id: newId(), attempt_id: newId(), target_id: newId(), source: 'hackernews' },
  ...{ first_at: now(), at: now(), number: 1, target_kind: kind, endpoint: hostile(`${kind} address`) },
  ...{ duration_ms: 5, status_code: 500, message: long('response') },
});
