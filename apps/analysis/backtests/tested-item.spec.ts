import { create, fromJson, type JsonValue } from '@bufbuild/protobuf';
import fc from 'fast-check';
import type { MentionRow } from '#clickhouse';
import {
  AnalysisSchema,
  CheckSchema,
  ItemReadingSchema,
  KeywordDefinitionSchema,
  MatchedItemSchema,
  type KeywordDefinition,
} from '#contracts';
import { itemRulesOf } from '#rules';
import { dropOf, eventOf } from '../domain/event-of.js';
import { treat } from '../handlers/treatment.js';
import { mentionRow } from '../readmodels/mentions.sink.js';
import { ruleView } from '../readmodels/rule-view.js';
import { ruledEvent } from '../rules/ruled-event.js';
import { binOf } from '../alerts/windows.js';
import { BacktestSummary } from './backtest-summary.js';
import { CountDifference } from './tested-alerts.js';
import { testedItem } from './tested-item.js';

const similarity = () => 0.7;
const words = fc.constantFrom('acme', 'promo', 'ADA', 'café', 'down', '', 'acme is down', 'r/ada', '12');
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const clauses = fc.oneof(
  fc.record({
    field: fc.constantFrom(
      'text',
      'title',
      'body',
      'author',
      'community',
      'url',
      'lang',
      'bucket',
      'brand',
      'kind',
    ),
    op: fc.constantFrom('eq', 'neq', 'contains', 'not_contains', 'word'),
    value: words.filter((word) => word !== ''),
  }),
  fc.record({
    field: fc.constantFrom(
      'sentimentScore',
      'relevance',
      'price',
      'previousPrice',
      'likes',
      'authorFollowers',
    ),
    op: fc.constantFrom('eq', 'neq', 'lt', 'gte'),
    value: fc.integer({ min: -1, max: 13 }),
  }),
  fc.record({
    field: fc.constantFrom('sentiment', 'intent', 'ai.mood', 'vip', 'views'),
    op: fc.constant('exists'),
  }),
  fc.constant({ field: 'text', op: 'similar_to', value: 'an outage' }),
  fc.constant({ field: 'ai.mood', op: 'in', value: ['good'] }),
  fc.constant({ field: 'matchedTerm', op: 'eq', value: 'acme' }),
);
const rules = fc.array(
  fc.record({
    name: fc.constantFrom('one', 'two'),
    enabled: fc.boolean(),
    when: fc.record({ kind: fc.constant('item'), all: fc.array(clauses, { minLength: 1, maxLength: 3 }) }),
    then: fc.constantFrom([{ type: 'stop' }], [{ type: 'mark', label: 'starred' }], [{ type: 'webhook' }]),
  }),
  { maxLength: 4 },
);
const definitions: fc.Arbitrary<KeywordDefinition> = fc
  .record({
    rules,
    muteRules: fc.array(
      fc.record({ value: fc.constantFrom('promo', 'ada'), target: fc.constantFrom('text', 'author') }),
      {
        maxLength: 2,
      },
    ),
    vipAuthors: fc.array(fc.record({ handle: fc.constant('ada') }), { maxLength: 1 }),
    minRelevance: maybe(fc.constantFrom(0, 50)),
  })
  .map(({ minRelevance, ...more }) => {
    const withIds = more.rules.map((rule, n) => ({ ...rule, id: `rule-${n}` }));
    const json = { ...more, rules: withIds, ...(minRelevance !== undefined && { minRelevance }) };
    return fromJson(KeywordDefinitionSchema, json as unknown as JsonValue);
  });
const items = fc.record({
  ...{ title: words, text: words, author: maybe(words), community: maybe(words), lang: maybe(words) },
  ...{ kind: fc.constantFrom('post', 'listing'), source: fc.constantFrom('vinted', 'mastodon') },
  url: fc.constantFrom('https://acme.example/down', ''),
  likes: maybe(fc.integer({ min: 0, max: 12 })),
  price: maybe(fc.constantFrom(0, 9.5, 12)),
  followers: maybe(fc.constantFrom(0, 12)),
});
const readings = fc.record({
  lang: fc.constantFrom('', 'en'),
  relevance: fc.constantFrom(0, 49, 50, 100),
  score: maybe(fc.constantFrom(-1, -0.35, 0, 0.5)),
  isAnalysed: fc.boolean(),
  bucket: maybe(fc.constantFrom('acme')),
  ai: fc.constantFrom(
    '',
    '{"status":"failed","output":null}',
    '{"status":"completed","output":{"mood":"good"}}',
  ),
});

type Given<A> = A extends fc.Arbitrary<infer T> ? T : never;

/** Returns the event of an item, built as `ChecksHandler` builds it. */
function live(
  definition: KeywordDefinition,
  given: Given<typeof items> & { publishedAt?: string },
  read: Given<typeof readings>,
  window: { windowFrom?: string; windowTo?: string; gap?: boolean } = {},
) {
  const { price, followers, likes, title, text, kind, source, url, author, community, lang, publishedAt } =
    given;
  const item = {
    ...{ title, text, kind, source, url, author, community, lang, publishedAt },
    ...{ itemId: '1', eventType: 'post.created', engagement: { likes } },
    bodyJson: JSON.stringify({
      price: price ?? null,
      previousPrice: price ?? null,
      brand: title,
      authorFollowers: followers,
    }),
  };
  const matched = create(MatchedItemSchema, { item, matches: [{ term: 'acme', field: 'text' }] });
  const treatment = treat(matched.item!, { matchMode: 'word', definition });
  const reading = create(ItemReadingSchema, {
    ...{ eventId: 'e', lang: read.lang, relevance: read.relevance },
    ...(read.isAnalysed && {
      analysis: create(AnalysisSchema, { sentiment: 'mixed', sentimentScore: read.score, intent: 'other' }),
    }),
    ...(read.bucket && { bucket: { key: read.bucket, label: 'Acme' } }),
  });
  const dropped = treatment.dropped ?? dropOf(definition, reading);
  const check = create(CheckSchema, {
    checkId: 'c',
    source: item.source,
    finishedAt: '2026-03-04T05:06:07.089Z',
    ...window,
  });
  const draft = eventOf(check, matched, { ...treatment, dropped }, treatment.dropped ? undefined : reading);
  return ruledEvent({ ...draft, aiJson: read.ai }, itemRulesOf(definition.rules), similarity);
}

/** Returns the row as ClickHouse returns it: the score is rounded to a `Float32`. */
function stored(row: MentionRow): MentionRow {
  const score = row.sentiment_score;
  return { ...row, sentiment_score: score === null ? null : Number(Math.fround(score).toPrecision(7)) };
}

describe('a backtest', () => {
  it('gives the stored results again if it tests the unchanged rules of the keyword [rules.backtest]', () => {
    fc.assert(
      fc.property(definitions, items, readings, (definition, item, read) => {
        const event = live(definition, item, read);
        const [row] = mentionRow(event);
        const tested = testedItem(stored(row!), definition, similarity);
        const { dropped } = event;
        expect(tested.dropped).toEqual(dropped && { reason: dropped.reason, rule: dropped.rule });
        expect(tested.rules).toEqual(event.rules.map(ruleView));
        expect(tested.labels).toEqual(event.labels);
        expect([tested.added, tested.removed]).toEqual([[], []]);
      }),
      { numRuns: 500 },
    );
  });

  it('counts how often each changed rule fires per day, and how the results differ from the stored ones [rules.backtest]', () => {
    const definition = fromJson(KeywordDefinitionSchema, {
      muteRules: [{ value: 'promo', target: 'text' }],
      rules: [
        {
          ...{ id: 'r1', name: 'down', enabled: true, then: [{ type: 'stop' }] },
          when: { kind: 'item', all: [{ field: 'text', op: 'word', value: 'down' }] },
        },
        {
          ...{ id: 'r2', name: 'never', enabled: true, then: [{ type: 'webhook' }] },
          when: { kind: 'item', all: [{ field: 'kind', op: 'eq', value: 'video' }] },
        },
      ],
    });
    const plain = create(KeywordDefinitionSchema);
    const rowOf = (text: string, more: Partial<MentionRow> = {}) => {
      const item = { ...{ title: '', text, kind: 'post', source: 'reddit', url: '' } };
      const base = { author: undefined, community: undefined, lang: undefined, likes: undefined };
      const event = live(
        plain,
        { ...item, ...base, source: 'mastodon', price: undefined, followers: undefined } as never,
        { lang: 'en', relevance: 100, score: undefined, isAnalysed: false, bucket: undefined, ai: '' },
        { windowFrom: '2026-03-04T05:00:00.000Z', windowTo: '2026-03-04T05:06:00.000Z' },
      );
      return { ...mentionRow(event)[0]!, occurred_at: '2026-03-04 05:06:07.089', watch_id: '', ...more };
    };
    const summary = new BacktestSummary();
    const rows = [
      rowOf('acme is down'),
      rowOf('acme is down', { occurred_at: '2026-03-05 00:00:00.000', rules: ['r1'] }),
      rowOf('acme promo', { rules: ['r2'] }),
      rowOf('acme'),
    ];
    for (const row of rows) summary.count(testedItem(row, definition, similarity));
    expect(summary.view(definition, [])).toEqual({
      items: 4,
      byRule: [
        {
          ...{ ruleId: 'r1', name: 'down', fired: 2 },
          perDay: [
            { date: '2026-03-04', count: 1 },
            { date: '2026-03-05', count: 1 },
          ],
        },
        { ruleId: 'r2', name: 'never', fired: 0, perDay: [] },
      ],
      dropped: [
        { reason: 'muted', count: 1 },
        { reason: 'rule', count: 2 },
      ],
      ...{ added: 1, removed: 1, alerts: [] },
    });
    // A rule and a mute drop two mentions of the bin that begins at 05:05: its count falls from 5 to 3. The rule also
    // drops one mention of the next day, whose count stays 0, because no count becomes negative.
    const at = Date.parse('2026-03-04T05:05:00.000Z');
    const bin = (time: number, total: number) => ({ watchId: '', at: time, total, negative: 0 });
    const nextDay = Date.parse('2026-03-05T00:00:00.000Z');
    expect(summary.difference.appliedTo([bin(at, 5), bin(nextDay, 0)])).toEqual([
      bin(at, 3),
      bin(nextDay, 0),
    ]);
  });

  it.each([
    ['hides', 'starred', ['hidden']],
    ['shows', 'hidden', []],
  ])(
    'leaves the counts of alerts unchanged if a person %s a mention that a rule marked as %s',
    (_, label, labels) => {
      const definition = fromJson(KeywordDefinitionSchema, {
        rules: [
          {
            ...{ id: 'r1', name: 'promo', enabled: true, then: [{ type: 'mark', label }] },
            when: { kind: 'item', all: [{ field: 'text', op: 'contains', value: 'promo' }] },
          },
        ],
      });
      const item = { title: '', text: 'acme promo', kind: 'post', source: 'mastodon', url: '' };
      const read = { lang: 'en', relevance: 100, isAnalysed: false, ai: '' };
      const window = { windowFrom: '2026-03-04T05:00:00.000Z', windowTo: '2026-03-04T05:06:00.000Z' };
      const [row] = mentionRow(live(definition, item as never, read as never, window));
      const difference = new CountDifference();
      const decided = { labels: [...labels], version: 7, occurred_at: '2026-03-04 05:06:07.089' };
      difference.add(testedItem({ ...row!, ...decided }, definition, similarity));
      expect(difference.appliedTo([])).toEqual([]);
    },
  );

  it('does not change the counts of alerts for a dropped mention whose time is unknown or more than 90 days ago [alerts.own-time]', () => {
    const definition = fromJson(KeywordDefinitionSchema, { muteRules: [{ value: 'promo', target: 'text' }] });
    const windowTo = '2026-03-04T05:06:00.000Z';
    const short = { windowFrom: '2026-03-04T05:00:00.000Z', windowTo };
    const differenceOf = (window: Parameters<typeof live>[3], publishedAt?: string) => {
      const item = { title: '', text: 'acme promo', kind: 'post', source: 'mastodon', url: '', publishedAt };
      const read = { lang: 'en', relevance: 100, isAnalysed: false, ai: '' };
      const [row] = mentionRow(live(create(KeywordDefinitionSchema), item as never, read as never, window));
      const difference = new CountDifference();
      const at = (time: string) => time.replace('T', ' ').replace('Z', '');
      const dates = { occurred_at: at(row!.occurred_at), published_at: publishedAt ? at(publishedAt) : null };
      difference.add(testedItem({ ...row!, ...dates }, definition, similarity));
      const watchId = row!.watch_id;
      const bins = [publishedAt ?? windowTo].map((time) => ({
        watchId,
        at: binOf(Date.parse(time)),
        total: 5,
      }));
      return difference.appliedTo(bins.map((bin) => ({ ...bin, negative: 0 })))[0]?.total;
    };
    expect(differenceOf(short)).toBe(4);
    expect(differenceOf(short, '2026-03-01T00:00:00.000Z')).toBe(4);
    expect(differenceOf({ ...short, gap: true })).toBe(5);
    expect(differenceOf({ ...short, windowFrom: '2026-03-04T01:00:00.000Z' })).toBe(5);
    expect(differenceOf(short, '2025-11-01T00:00:00.000Z')).toBe(5);
  });
});
