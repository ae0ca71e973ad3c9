import type { Fetched } from '../source.js';
import { START, followed, observed as observedOf } from './testing/site.js';
import { catalogItem, listingId } from './testing/fixtures.js';
import { observed, search } from './testing/search.js';

/** Returns the observations of a read in short form: kind, listing, minute, price. */
const rows = (fetched: Fetched) =>
  observed(fetched)
    .map(({ event, listingId: id, observedAt = '', price }) => {
      const n = Number(id) - Number(listingId(0));
      return `${event} ${n} ${observedAt.slice(8, 16)} ${price}`;
    })
    .sort();

const DAY = 1_440;
const euros = (amount: string) => ({ price: { amount, currency_code: 'EUR' } });

describe('the observations of listings', () => {
  it('are returned to each watch for the period since its last read', async () => {
    const { site, read } = search(3, 2, 1);
    await read(0);
    site.entries.unshift(catalogItem(4));
    await read(10, 0);
    site.entries[1] = catalogItem(3, euros('15.0'));
    await read(20, 10);
    site.entries.splice(2, 1);
    site.page = { status: 404 };
    const expectedRows = [
      'created 4 04T12:10 20.00',
      'delisted 2 04T12:30 20.00',
      'price_changed 3 04T12:20 15.00',
    ];
    // A window begins a little before the last read.
    expect(rows(await read(30, 26))).toEqual(['delisted 2 04T12:30 20.00']);
    expect(rows(await read(40, 0))).toEqual(expectedRows);
    // The check of this watch was lost. The watch reads again, and gets the same observations.
    expect(rows(await read(41, 0))).toEqual(expectedRows);
    expect(rows(await read(60, 50))).toEqual([]);
  });

  it('contain the previous price and the time of the change, if the price has changed', async () => {
    const { site, read } = search(1);
    await read(0);
    site.entries = [catalogItem(1, euros('15.0'))];
    await read(10, 0);
    site.entries = [catalogItem(1, euros('12.0'))];
    expect(observed(await read(20, 0))).toMatchObject([
      { observedAt: '2026-03-04T12:10:00.000Z', price: '15.00', previousPrice: '20.00' },
      { observedAt: '2026-03-04T12:20:00.000Z', price: '12.00', previousPrice: '15.00' },
    ]);
  });

  it('contain all current listings at a first poll, even if another watch has read them on the same day', async () => {
    const { site, read } = search(2, 1);
    expect(rows(await read(0))).toEqual(['seen 1 04T12:00 20.00', 'seen 2 04T12:00 20.00']);
    site.entries[0] = catalogItem(2, euros('15.0'));
    site.entries.unshift(catalogItem(3));
    await read(10, 0);
    const first = rows(await read(20));
    expect(first).toEqual(['seen 1 04T12:00 20.00', 'seen 2 04T12:10 15.00', 'seen 3 04T12:10 20.00']);
    expect(rows(await read(25))).toEqual(first);
  });

  it('are returned once more on the next day, and are the same for all watches', async () => {
    const { site, read } = search(2, 1);
    await read(0);
    expect(rows(await read(10, 0))).toEqual([]);
    const next = ['seen 1 05T00:10 20.00', 'seen 2 05T00:10 20.00'];
    expect(rows(await read(730, 10))).toEqual(next);
    site.entries[0] = catalogItem(2, euros('15.0'));
    expect(rows(await read(740, 730))).toEqual(['price_changed 2 05T00:20 15.00']);
    expect(rows(await read(DAY, 10))).toEqual(['price_changed 2 05T00:20 15.00', ...next]);
    expect(rows(await read(DAY + 10, DAY))).toEqual([]);
  });

  it('contain listings that entered the scanned part of the list, even if they left this part later', async () => {
    const entries = Array.from({ length: 300 }, (_, n) => 300 - n);
    const { site, read } = search(...entries);
    await read(0);
    site.entries.splice(0, 1);
    expect(rows(await read(10, 0))).toEqual(['seen 12 04T12:10 20.00']);
    site.entries.unshift(catalogItem(300));
    expect(rows(await read(20, 0))).toEqual(['seen 12 04T12:10 20.00']);
  });

  it('are stored once for each of the last two UTC days', async () => {
    const following = await followed('a');
    for (let n = 1; n <= 3; n += 1) {
      following.at = START + n * 86_400_000;
      await following.scan();
    }
    const days = observedOf(following.last!, START - 1).map(({ observedAt }) => observedAt?.slice(0, 10));
    expect(days).toEqual(['2026-03-06', '2026-03-07']);
  });
});
