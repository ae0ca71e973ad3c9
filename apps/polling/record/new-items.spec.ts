import { completedCheck } from './build-checks.js';
import type { DueWatch } from '../due/due-work.js';
import {
  NOW,
  HOUR,
  iso,
  watchOf,
  searchOf,
  pricedOf,
  itemOf,
  check,
  reported,
  backfilled,
  remembered,
} from '../testing/built-checks.js';

describe('the check of one watch', () => {
  it('only remembers items that did not change after the baseline, with and without backfill', () => {
    const at = NOW - HOUR;
    const items = [itemOf('new', { happenedAt: iso(at + 1) }), itemOf('old', { happenedAt: iso(at) })];
    for (const backfill of [false, true]) {
      const parts = check(watchOf({ backfill }), items);
      expect([reported(parts), remembered(parts)]).toEqual([['new'], ['old']]);
    }
  });

  it('reports items that the watch has not seen, oldest first, and reports nothing twice', () => {
    const parts = check(watchOf(), [itemOf('hn:3'), itemOf('hn:2'), itemOf('hn:1')], ['hn:2']);
    expect([reported(parts), remembered(parts)]).toEqual([['hn:1', 'hn:3'], []]);
  });

  it('only remembers the items if it is the first check, and reports no gap [keywords.backfill]', () => {
    const parts = check(watchOf({ baselineAt: undefined }), [itemOf('hn:1'), itemOf('hn:2')]);
    expect([reported(parts), remembered(parts)]).toEqual([[], ['hn:1', 'hn:2']]);
    expect(parts[0]).toMatchObject({ baseline: true, gap: false, costCredits: 1 });
  });

  it('reports all items, even very old ones, if it is the first check with backfill [keywords.backfill]', () => {
    const parts = check(watchOf({ baselineAt: undefined, backfill: true }), [
      itemOf('hn:1', { publishedAt: iso(0) }),
    ]);
    expect([reported(parts), remembered(parts), parts[0]?.baseline]).toEqual([['hn:1'], [], true]);
  });

  const dates = (baselineAt: number) => [
    itemOf('hn:new', { publishedAt: iso(baselineAt + 1) }),
    itemOf('hn:same second', { publishedAt: iso(Math.floor(baselineAt / 1000) * 1000) }),
    itemOf('hn:edge', { publishedAt: iso(baselineAt - 1001) }),
    itemOf('hn:old', { publishedAt: iso(0) }),
    itemOf('hn:undated'),
  ];

  it('reports items without a date, and items dated in the second of the baseline or later, but no earlier items [keywords.backfill]', () => {
    const baselineAt = NOW - HOUR + 1;
    const parts = check(watchOf({ baselineAt }), dates(baselineAt));
    expect(reported(parts)).toEqual(['hn:undated', 'hn:same second', 'hn:new']);
    expect(remembered(parts)).toEqual(['hn:edge', 'hn:old']);
    expect(backfilled(parts)).toEqual([]);
  });

  it('keeps and marks items that were published before the baseline, if the watch has a backfill [keywords.backfill]', () => {
    const baselineAt = NOW - HOUR + 1;
    const parts = check(watchOf({ baselineAt, backfill: true }), dates(baselineAt));
    expect([reported(parts).length, remembered(parts)]).toEqual([5, []]);
    expect(backfilled(parts)).toEqual(['hn:old', 'hn:edge']);
  });

  it.each([120_000, -120_000])(
    'compares dates by the clock of the upstream, which is ahead by %i ms',
    (ahead) => {
      const baselineAt = NOW - HOUR;
      const found = [
        itemOf('hn:after', { publishedAt: iso(baselineAt + ahead + 1) }),
        itemOf('hn:before', { publishedAt: iso(baselineAt + ahead - 1) }),
      ];
      expect(reported(check(watchOf({ baselineAt }), found, [], searchOf(), {}, ahead))).toEqual([
        'hn:after',
      ]);
    },
  );

  it('reports an article that the first check missed, if its date is at most 24 hours before the baseline', () => {
    const baselineAt = NOW - HOUR;
    const found = [
      itemOf('rss:yesterday', { source: 'rss', publishedAt: iso(baselineAt - 24 * HOUR) }),
      itemOf('rss:before', { source: 'rss', publishedAt: iso(baselineAt - 24 * HOUR - 1) }),
    ];
    const parts = check(watchOf({ baselineAt }), found, [], searchOf('rss'));
    expect([reported(parts), remembered(parts)]).toEqual([['rss:yesterday'], ['rss:before']]);
  });

  it.each([
    ['', watchOf()],
    [' of a first check with backfill', watchOf({ baselineAt: undefined, backfill: true })],
  ])(
    'keeps the newest 1,000 items%s, states that there were more, and remembers the other items',
    (_, watch) => {
      const found = Array.from({ length: 1_234 }, (__, n) => itemOf(`hn:${n}`));
      const parts = check(watch, found);
      const ids = found.map(({ item }) => item.itemId);
      expect(reported(parts)).toEqual(ids.slice(0, 1_000).reverse());
      expect(remembered(parts)).toEqual(ids.slice(1_000));
      expect(parts[0]?.warnings[0]).toMatch(/^1234 new items matched.*the newest 1000 were kept/);
    },
  );

  it('only remembers old and undated items of a feed that responds for the first time, and reports new items', () => {
    const minute = (n: number) => NOW - HOUR + n * 60_000;
    const outages = new Map(
      ['rss:old', 'rss:undated', 'rss:new'].map((id) => [
        id,
        { from: new Date(minute(0)), until: new Date(minute(30)) },
      ]),
    );
    const matched = [
      itemOf('rss:other', { source: 'rss', publishedAt: iso(minute(-10)) }),
      itemOf('rss:new', { source: 'rss', publishedAt: iso(minute(5)) }),
      itemOf('rss:undated', { source: 'rss' }),
      itemOf('rss:old', { source: 'rss', publishedAt: iso(minute(-10)) }),
    ];
    const found = (more: Partial<DueWatch>) => {
      const fetched = { items: [], gap: false, warnings: [], outages };
      const answer = {
        kind: 'read' as const,
        fetched,
        state: {},
        readAt: new Date(NOW),
        windowFrom: undefined,
        clockAheadMs: 0,
      };
      const watch = watchOf({ baselineAt: minute(0), coveredUntil: minute(20), ...more });
      const priced = pricedOf(searchOf('rss'), watch);
      const parts = completedCheck(priced, answer, matched, new Set(), new Date(NOW));
      return { ids: reported(parts), old: backfilled(parts) };
    };
    const all = ['rss:old', 'rss:undated', 'rss:new', 'rss:other'];
    expect(found({}).ids).toEqual(['rss:new', 'rss:other']);
    expect(found({ baselineAt: minute(-1) }).ids).toEqual(all);
    expect(found({ coveredUntil: minute(30) }).ids).toEqual(all);
    expect(found({ backfill: true })).toEqual({ ids: all, old: ['rss:old', 'rss:undated'] });
  });
});
