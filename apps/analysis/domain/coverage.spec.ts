import { create } from '@bufbuild/protobuf';
import { CheckPeriodSchema, CheckSchema } from '#contracts';
import { coveredBy } from './coverage.js';
import { isKnown } from '../alerts/windows.js';

const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 0, 5);

describe('the period that a check covers', () => {
  const at = (minutes: number) => new Date(START + minutes * 60_000).toISOString();
  const period = (more: object) => {
    const check = {
      source: 'reddit',
      windowFrom: at(0),
      windowTo: at(60),
      items: [
        { item: { itemId: 'a', publishedAt: at(30) } },
        { item: { itemId: 'b', publishedAt: at(-90) } },
      ],
      ...more,
    };
    const { items: _, source: __, ...rest } = check;
    const { rememberedItemIds: ___, ...fields } = rest as Record<string, unknown>;
    const covered = coveredBy(create(CheckPeriodSchema, fields), () => create(CheckSchema, check));
    return covered && [(covered.from - START) / 60_000, (covered.to - START) / 60_000];
  };

  it('is the window of the check; with a gap, it begins at the oldest item; after a failure, it is empty [alerts.blind]', () => {
    expect(period({})).toEqual([0, 60]);
    expect(period({ gap: true })).toEqual([30, 60]);
    expect(period({ failure: { kind: 'timeout' } })).toBeUndefined();
  });

  it('begins at the oldest item of a first check, but is empty for RSS or if not all items were stored [alerts.first-scan]', () => {
    expect(period({ baseline: true, windowFrom: '' })).toEqual([-90, 60]);
    expect(period({ baseline: true, windowFrom: '', rememberedItemIds: ['c'] })).toEqual([60, 60]);
    expect(period({ baseline: true, windowFrom: '', source: 'rss' })).toEqual([60, 60]);
  });

  it('begins where the items of every kind and every term are known [alerts.first-scan, alerts.blind]', () => {
    const item = (kind: string, minutes: number, ...terms: string[]) => ({
      item: { itemId: `${kind} ${minutes}`, kind, publishedAt: at(minutes) },
      matches: terms.map((term) => ({ term, field: 'text' })),
    });
    const kinds = [item('post', 40), item('post', -9_000), item('comment', 50), item('comment', -90)];
    expect(period({ baseline: true, windowFrom: '', items: kinds })).toEqual([-90, 60]);
    const terms = [item('post', 40, 'a'), item('post', 20, 'a', 'b'), item('post', -9_000, 'b')];
    expect(period({ baseline: true, windowFrom: '', items: terms })).toEqual([20, 60]);
    expect(period({ gap: true, items: [item('post', 5), item('comment', 45)] })).toEqual([45, 60]);
  });

  it('makes a window known if at most five minutes of the window are not covered', () => {
    const window = { from: START, to: START + HOUR_MS };
    const covered = (...minutes: [number, number][]) =>
      minutes.map(([from, to]) => ({ from: START + from * 60_000, to: START + to * 60_000 }));
    expect(isKnown(window, covered([-10, 30], [35, 62]))).toBe(true);
    expect(isKnown(window, covered([-10, 30], [20, 40], [46, 62]))).toBe(false);
    expect(isKnown(window, covered([0, 54]))).toBe(false);
    expect(isKnown(window, [])).toBe(false);
  });
});
