import { follow } from './follow.js';
import type { History } from './history.js';
import {
  START,
  Site,
  TEN_MINUTES,
  followed,
  ids,
  observed,
  reportedOf,
  type Follow,
} from './testing/site.js';
import { reportSince } from './report.js';

describe('the first scan', () => {
  it('reports all listings as created to the first poll, and records no change', async () => {
    const following = await followed('b', 'a');
    expect(following.all).toEqual(['created b', 'created a']);
    expect(following.report(0)).toEqual([]);
    expect(following.observed).toEqual(['seen b', 'seen a']);
    expect(following.last?.gap).toBe(false);
  });

  it('reads only the minimum number of pages, but later scans continue to the known listings', async () => {
    const site = new Site(ids(40));
    const first = await site.scan(undefined);
    expect([first.pages, first.whole, first.complete]).toEqual([2, false, true]);
    const { history } = follow({ before: undefined, scans: [first], now: new Date(START) });
    expect((await site.scan(history)).pages).toBe(2);
    site.put(...ids(6, 'new'));
    expect((await site.scan(history)).pages).toBe(3);
  });
});

describe('a new listing', () => {
  it('is reported as created', async () => {
    const following = await followed('b', 'a');
    following.site.put('c');
    expect(await following.scan()).toEqual(['created c']);
    expect(following.observed).toEqual(['created c']);
    expect(await following.scan()).toEqual([]);
    expect(following.all).toEqual(['created c', 'created b', 'created a']);
  });

  it('is reported as created, without a gap, if the list was empty before', async () => {
    const following = await followed();
    following.site.put('a');
    expect(await following.scan()).toEqual(['created a']);
    expect(following.last?.gap).toBe(false);
  });

  it('is reported even if it appears between known listings, because it has begun to match the search', async () => {
    const following = await followed(...ids(40));
    following.site.offers.splice(3, 0, { id: 'x', cents: 500 });
    expect(await following.scan()).toEqual(['created x']);
  });

  it('is reported even if all known listings of a short list have moved above it', async () => {
    const following = await followed('c', 'b', 'a');
    following.site.put(...ids(8, 'new'));
    for (const id of ['a', 'b', 'c']) following.site.bump(id);
    expect(await following.scan()).toEqual(
      expect.arrayContaining(ids(8, 'new').map((id) => `created ${id}`)),
    );
    expect(following.last?.gap).toBe(false);
  });

  it('is not confused with an old listing that moved up because another listing is gone', async () => {
    const following = await followed(...ids(40));
    following.site.take('old0');
    expect(await following.scan()).toEqual([]);
    expect(following.observed).toEqual(['seen old8']);
    expect(following.last?.history.followed.has('old8')).toBe(true);
  });

  it('is reported as created, with a gap, if the scan reads only new listings', async () => {
    const following = await followed(...ids(40));
    following.site.offers = [];
    following.site.put(...ids(40, 'new'));
    const news = await following.scan({ atLeast: 2, atMost: 3 });
    expect([news.length, following.last?.gap]).toEqual([12, true]);
    expect(following.last?.history.missedUntil).toBe(START + TEN_MINUTES);
  });

  it('causes no gap if the scan reached the end of the list', async () => {
    const following = await followed('a');
    following.site.offers = [];
    following.site.put('b');
    expect(await following.scan()).toEqual(['created b']);
    expect(following.last?.gap).toBe(false);
  });
});

describe('a promoted listing', () => {
  const promote = (following: Follow, id: string) => {
    following.site.offers.splice(1, 0, { id, cents: 900, isPromoted: true });
  };

  it('does not count as a known listing at which a scan can end', async () => {
    const following = await followed(...ids(40));
    for (const id of ids(5, 'paid')) promote(following, id);
    await following.scan();
    following.site.put(...ids(20, 'new'));
    // The promoted listings are on pages 6 and 7, in their old order. If they counted, the scan would end at page 7.
    const scan = await following.site.scan(following.history);
    expect([scan.pages, scan.complete]).toEqual([8, true]);
    expect((await following.scan()).length).toBe(20);
  });

  it('is reported as created only after the end of its promotion, if its photo has no time', async () => {
    const following = await followed('b', 'a');
    promote(following, 'paid');
    expect(await following.scan()).toEqual([]);
    expect(following.observed).toEqual(['seen paid']);
    following.site.take('paid');
    following.site.put('paid');
    expect(await following.scan()).toEqual(['created paid']);
  });

  it('is not reported as created if it is old and no longer promoted', async () => {
    const following = await followed(...ids(40));
    promote(following, 'old30');
    following.site.offers = following.site.offers.filter(
      ({ id, isPromoted }) => id !== 'old30' || isPromoted,
    );
    expect(await following.scan()).toEqual([]);
    following.site.take('old30');
    following.site.offers.splice(30, 0, { id: 'old30', cents: 900 });
    expect(await following.scan({ atLeast: 9, atMost: 9 })).toEqual([]);
    expect(following.all).toContain('created old30');
  });

  it('does not count as gone if it is no longer shown', async () => {
    const following = await followed(...ids(40));
    promote(following, 'paid');
    await following.scan();
    following.site.take('paid');
    for (let n = 0; n < 4; n += 1) expect(await following.scan()).toEqual([]);
  });

  it('is removed from the history two days after it was last shown, and never reported as gone', async () => {
    const following = await followed('b', 'a');
    promote(following, 'paid');
    await following.scan();
    following.site.take('paid');
    for (let n = 0; n < 4; n += 1) {
      expect([await following.scan(), following.observed, following.last?.doubtful]).toEqual([[], [], []]);
    }
    expect(following.history?.followed.get('paid')?.gone).toBe(false);
    following.at += 2 * 86_400_000;
    await following.scan();
    expect(following.history?.followed.has('paid')).toBe(false);
  });
});

describe('the price of a listing', () => {
  it('is reported with the previous price, and with a new id, each time it changes', async () => {
    const following = await followed('b', 'a');
    following.site.price('a', 1_500);
    expect(await following.scan()).toEqual(['price_changed a:price:15.00:1']);
    expect(observed(following.last!, START)).toMatchObject([
      { event: 'price_changed', listingId: 'a', price: '15.00', previousPrice: '20.00', currency: 'EUR' },
    ]);
    following.site.price('a', 2_000);
    expect(await following.scan()).toEqual(['price_changed a:price:20.00:2']);
    following.site.price('a', 1_500);
    expect(await following.scan()).toEqual(['price_changed a:price:15.00:3']);
  });

  it('does not count as changed if the currency has changed', async () => {
    const following = await followed('a');
    following.site.price('a', 8_600, 'PLN');
    expect([await following.scan(), following.observed]).toEqual([[], []]);
    expect(following.history?.followed.get('a')?.listing.price).toEqual({ amount: '86.00', currency: 'PLN' });
    following.site.price('a', 8_000, 'PLN');
    expect(await following.scan()).toEqual(['price_changed a:price:80.00:1']);
  });

  it('is reported with its currency and with the time of the change', async () => {
    const following = await followed('a');
    following.site.price('a', 1_550);
    await following.scan();
    const [item] = reportSince(new Date(START), reportedOf(following.last!));
    expect(item).toMatchObject({
      eventType: 'listing.price_changed',
      previousPrice: 20,
      happenedAt: '2026-03-04T12:10:00.000Z',
    });
    expect(JSON.parse(item?.bodyJson ?? '')).toMatchObject({
      id: 'a',
      price: 15.5,
      currency: 'EUR',
      previousPrice: 20,
      previousCurrency: 'EUR',
      firstSeenAt: '2026-03-04T12:00:00.000Z',
    });
  });
});

describe('a listing that is gone', () => {
  it('is reported after two scans that did not find the listing at its place', async () => {
    const following = await followed(...ids(40));
    following.site.take('old2');
    expect(await following.scan()).toEqual([]);
    expect(following.last?.doubtful).toEqual(['old2']);
    expect(await following.scan()).toEqual(['delisted old2:delisted:1']);
    expect(following.observed).toContain('delisted old2');
    expect(await following.scan()).toEqual([]);
    expect(following.all).not.toContain('created old2');
  });

  it('is reported immediately if its own page confirms that it is gone', async () => {
    const following = await followed(...ids(40));
    following.site.take('old2');
    expect(await following.scan(undefined, new Set(['old2', 'old3']))).toEqual(['delisted old2:delisted:1']);
  });

  it('is not reported if the second scan finds the listing', async () => {
    const following = await followed(...ids(40));
    following.site.take('old2');
    await following.scan();
    following.site.offers.splice(2, 0, { id: 'old2', cents: 2_000 });
    expect(await following.scan()).toEqual([]);
    following.site.take('old2');
    expect(await following.scan()).toEqual([]);
    expect(await following.scan()).toEqual(['delisted old2:delisted:1']);
  });

  it('is not confused with a listing that new listings have pushed out of the scanned part', async () => {
    const following = await followed(...ids(40));
    following.site.put(...ids(5, 'new'));
    for (let n = 0; n < 5; n += 1) expect((await following.scan()).join()).not.toContain('delisted');
    expect(following.last?.history.followed.get('old7')?.missing).toBe(0);
  });

  it('is not reported from incomplete scans', async () => {
    const following = await followed(...ids(40));
    following.site.put(...ids(30, 'new'));
    following.site.take('old1');
    for (let n = 0; n < 3; n += 1) {
      const news = await following.scan({ atLeast: 2, atMost: 7 });
      expect(news.join()).not.toContain('delisted');
    }
  });

  it('is not confused with a listing that other listings have passed on their way to the top', async () => {
    const following = await followed(...ids(8), ...ids(40, 'older'));
    for (const id of ['old7', 'old6', 'old5', 'old4']) following.site.bump(id);
    following.site.put(...ids(4, 'new'));
    for (let n = 0; n < 3; n += 1) {
      expect((await following.scan({ atLeast: 2, atMost: 2 })).join()).not.toContain('delisted');
    }
  });

  it('is reported as created with another id if it returns', async () => {
    const following = await followed('b', 'a');
    following.site.take('a');
    await following.scan();
    await following.scan();
    following.site.put('a');
    expect(await following.scan()).toEqual(['created a:listed:2']);
    following.site.take('a');
    await following.scan();
    expect(await following.scan()).toEqual(['delisted a:delisted:2']);
    expect(following.report(START)).toEqual([
      'delisted a:delisted:2',
      'created a:listed:2',
      'delisted a:delisted:1',
    ]);
  });
});

describe('a listing that matches several phrases', () => {
  const both = async (inA: string[], inB: string[], before?: History) => {
    const scanOf = async (phrase: string, names: string[]) => ({
      ...(await new Site(names).scan(before)),
      phrase,
    });
    const scans = [await scanOf('a', inA), await scanOf('b', inB)];
    return follow({ before, scans, now: new Date(START) });
  };

  it('is gone only if it has left the lists of all phrases', async () => {
    const first = await both(['x', 'y'], ['x', 'z']);
    expect([...first.history.followed.keys()]).toEqual(['x', 'y', 'z']);
    const second = await both(['y'], ['x', 'z'], first.history);
    expect([second.doubtful, second.history.lists.get('a')?.order]).toEqual([[], ['y']]);
    const third = await both(['y'], ['z'], second.history);
    expect(third.doubtful).toEqual(['x']);
    const fourth = await both(['y'], ['z'], third.history);
    expect(fourth.history.followed.get('x')?.changes.map(({ kind }) => kind)).toEqual(['delisted']);
  });

  it('is not new if it matches an additional phrase', async () => {
    const first = await both(['x'], ['y']);
    const second = await both(['x', 'y'], ['y'], first.history);
    expect([...second.history.followed.values()].flatMap(({ changes }) => changes)).toEqual([]);
  });
});
