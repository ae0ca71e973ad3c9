import type { Page } from 'playwright-core';
import {
  insertRows,
  type ActivityRow,
  type AnswerRow,
  type AttemptRow,
  type ClickHouseClient,
  type MentionRow,
} from '#clickhouse';
import { newId } from '#kernel';
import { call } from './installation.js';

/** What a stranger writes into a field: it ends every element and attribute that could hold it, and runs. */
export const hostile = (field: string) => `${field}"'></script><img/src/onerror=hit=1><svg/onload=hit=1>`;

/** As long as a name of a post can be, without a place to break. */
const long = (field: string) => hostile(field) + 'W'.repeat(900);

const SCRIPT_LINK = 'javascript:hit=2';
const DATA_LINK = 'data:text/html,<script>parent.hit=3</script>';

/** The columns that say whose row it is. */
type Owner = Pick<MentionRow, 'account_id' | 'keyword_id' | 'watch_id'>;

const now = () => new Date().toISOString();

/** A keyword that never runs: a test writes everything that it finds. */
export const sleepingKeyword = (name: string, prompt: string, more: object = {}) => ({
  name,
  refreshIntervalSeconds: 86_400,
  globalCriteria: { market: 'fr', query: 'lamp', filters: { prompt, brands: ['Lumora', 'Northwind'] } },
  sources: ['ai_answers', 'vinted'].map((source) => ({ source, enabled: true })),
  schedule: { startsAt: '2099-01-01T00:00:00Z', endsAt: null, timezone: 'UTC' },
  ...more,
});

/** A mention of now. Columns that are left out are empty. */
export const mentionRow = (owner: Owner, more: Partial<MentionRow>): Partial<MentionRow> => ({
  ...owner,
  ...{ event_id: newId(), check_id: newId(), item_id: newId(), occurred_at: now() },
  ...{ source: 'hackernews', type: 'hn_item.created', kind: 'story', url: 'https://example.org/1' },
  ...{ match_mode: 'word', matches: '[]', media: '[]', verdicts: '[]', readings: '[]' },
  ...more,
});

/** An answer of an engine, now. */
export const answerRow = (owner: Owner, more: Partial<AnswerRow>): AnswerRow => ({
  ...owner,
  ...{ check_id: newId(), engine: 'openai', model: 'model-1', market: 'global', answered_at: now() },
  ...{ prompt: 'Which lamp?', text: '', citations: '[]', queries: [] },
  ...more,
});

/** Writes hostile text into everything that a member, a post, an AI engine or a receiver can write. */
export async function writeHostileFields(page: Page, clickhouse: ClickHouseClient, accountId: string) {
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
  const dropped = { dropped_reason: 'muted', dropped_rule: long('dropped by'), text: hostile('untitled') };
  await insertRows(clickhouse, 'mentions', [mention, mentionRow(watch, dropped)]);
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
  return { keywordId: keyword_id as string, mentionId: mention.event_id ?? '' };
}

/** What members of the account can name. @returns the keyword */
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
      searches: [{ label: hostile('label') }],
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

/** A listing, because it has the most fields. */
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
    ...{ url: DATA_LINK, media: JSON.stringify([{ url: SCRIPT_LINK, type: 'image' }]) },
    ...{ bucket: 'b', bucket_label: hostile('bucket'), sentiment: 'mixed', reader: 'llm' },
    matched_terms: [term],
    matches: JSON.stringify([{ term, field: 'text', start: 0, end: 4 }]),
    verdicts: JSON.stringify([{ step: 'mute', value: 'x', hit: true, detail: hostile('mute') }]),
    rule_outcomes: JSON.stringify([fired]),
    ai: JSON.stringify({ status: 'completed', output: { [hostile('key of ai')]: hostile('value of ai') } }),
    reading_reason: hostile('reason'),
    readings: JSON.stringify([{ kind: 'language', reader: 'local', model: hostile('model'), version: '1' }]),
    listing: JSON.stringify({
      ...{ brand: hostile('brand'), size: hostile('size'), condition: hostile('condition') },
      ...{ seller: { name: hostile('seller'), url: SCRIPT_LINK }, photos: [SCRIPT_LINK] },
    }),
  });
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
