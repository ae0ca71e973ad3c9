import fc from 'fast-check';
import { backtestPage } from './backtest-page.js';
import type { TestedItem } from './tested-item.js';

/** Returns a tested item for this position in the list. */
function item(place: number, changes: boolean, title: string): TestedItem {
  const row = { event_id: `id ${place}`, occurred_at: '2026-11-23 08:00:00.000', title, url: '' };
  return {
    row: { ...row, dropped_reason: '' } as TestedItem['row'],
    ...{ dropped: undefined, rules: [], labels: [], added: [], removed: changes ? ['rule'] : [] },
  };
}

async function* from(items: readonly TestedItem[], after: string, onItem: () => void) {
  const begin = items.findIndex(({ row }) => row.event_id === after) + 1;
  for (const one of items.slice(begin)) {
    onItem();
    yield one;
  }
}

describe('the pages of a backtest', () => {
  afterEach(() => jest.restoreAllMocks());

  it('contain each requested item once, in order, for different limits, sizes and times', async () => {
    const changes = fc.array(fc.boolean(), { maxLength: 40 });
    const sizes = fc.constantFrom(1, 300_000, 800_000);
    await fc.assert(
      fc.asyncProperty(
        ...[changes, fc.integer({ min: 1, max: 5 }), fc.boolean(), sizes, fc.constantFrom(1, 700, 2_000)],
        async (changed, limit, onlyFired, size, msEach) => {
          const items = changed.map((one, place) => item(place, one, 'x'.repeat(size)));
          let now = 0;
          jest.spyOn(Date, 'now').mockImplementation(() => now);
          const ids: string[] = [];
          let [after, pages] = ['', 0];
          do {
            const found = from(items, after, () => (now += msEach));
            const page = await backtestPage(found, limit, onlyFired);
            const views = JSON.parse(page.itemsJson) as { mentionId: string }[];
            expect(views.length).toBeLessThanOrEqual(limit);
            expect(page.itemsJson.length).toBeLessThan(900_000);
            ids.push(...views.map(({ mentionId }) => mentionId));
            [after, pages] = [page.nextId, pages + 1];
          } while (after !== '' && pages <= items.length);
          const wanted = items.filter(({ removed }) => !onlyFired || removed.length > 0);
          expect(ids).toEqual(wanted.map(({ row }) => row.event_id));
        },
      ),
      { numRuns: 40 },
    );
  });
});
