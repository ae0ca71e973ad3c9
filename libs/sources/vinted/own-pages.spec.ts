import { catalogItem, listingId } from './testing/fixtures.js';
import { news, search, vinted } from './testing/search.js';

describe('an empty list of listings', () => {
  const empty = 'vinted answered an empty list although it had 4 listings before; this answer is not used';

  it('is refused, and changes nothing, if there were four listings before', async () => {
    const { site, read, paths } = search(4, 3, 2, 1);
    await read(0);
    const { state, entries } = site;
    site.entries = [];
    paths();
    await expect(read(10, 0)).rejects.toMatchObject({ kind: 'truncated', message: empty, reach: 'search' });
    expect(paths()).toEqual(['/api/v2/catalog/items', `/items/${listingId(1)}`, `/items/${listingId(2)}`]);
    await expect(read(20, 0)).rejects.toThrow(empty);
    expect(site.state).toEqual(state);
    site.entries = entries;
    expect(news(await read(30, 0))).toEqual([]);
  });

  it('is refused if only one of the two requested listings is gone', async () => {
    const { site, read } = search(4, 3, 2, 1);
    await read(0);
    site.entries = [];
    site.pages = { [listingId(1)]: { status: 404 } };
    await expect(read(10, 0)).rejects.toThrow(empty);
  });

  it('is accepted if the own pages of the listings confirm that they are gone', async () => {
    const { site, read, paths } = search(4, 3, 2, 1);
    await read(0);
    site.entries = [];
    site.page = { status: 410 };
    expect(news(await read(10, 0)).length).toBe(2);
    site.page = { status: 200 };
    paths();
    expect(news(await read(20, 10)).sort()).toEqual(
      [1, 2, 3, 4].map((n) => `listing.delisted ${vinted(n)}:delisted:1`),
    );
    expect(paths()).toEqual(['/api/v2/catalog/items']);
  });

  it('is accepted if there were only two listings before', async () => {
    const { site, read } = search(2, 1);
    await read(0);
    site.entries = [];
    expect(news(await read(10, 0))).toEqual([]);
    expect(news(await read(20, 10)).length).toBe(2);
  });

  it('is accepted if the last scan was two days ago', async () => {
    const { site, read } = search(4, 3, 2, 1);
    await read(0);
    site.entries = [];
    const later = 2 * 1_440;
    await expect(read(later - 1, 0)).rejects.toThrow(empty);
    expect(news(await read(later, 0))).toEqual([]);
    expect(news(await read(later + 10, later)).length).toBe(4);
  });
});

describe("a listing's own page", () => {
  it.each([
    [429, 'vinted answered 429: too many requests, asked to wait 120 s'],
    [403, 'vinted answered 403: too many requests, asked to wait 120 s'],
    [503, 'vinted answered 503: the upstream failed; Earshot tries again later'],
  ])(
    'makes the lane wait, and is the last page of the read, if it answers %i with a request to wait',
    async (status, reason) => {
      const { site, read, paths, heldOff } = search(4, 3, 2, 1);
      await read(0);
      site.entries = [catalogItem(4)];
      site.page = { status, headers: { 'retry-after': '120' } };
      paths();
      const fetched = await read(10, 0);
      expect(news(fetched)).toEqual([]);
      expect(paths()).toEqual(['/api/v2/catalog/items', `/items/${listingId(1)}`]);
      expect(heldOff).toEqual([{ waitMs: 120_000, reason }]);
      expect(fetched.warnings).toEqual([`${reason}; the next check finds out whether listings are gone`]);
    },
  );

  it('makes the lane wait 30 s, and is the last page of the read, if it answers 429 without a time', async () => {
    const { site, read, paths, heldOff } = search(4, 3, 2, 1);
    await read(0);
    site.entries = [catalogItem(4)];
    site.page = { status: 429 };
    paths();
    expect((await read(10, 0)).warnings.length).toBe(1);
    expect([paths().length, heldOff]).toMatchObject([2, [{ waitMs: 30_000 }]]);
  });

  it('is the last page of the read, but the lane does not wait, if it answers 429 with 0 s', async () => {
    const { site, read, paths, heldOff } = search(4, 3, 2, 1);
    await read(0);
    site.entries = [catalogItem(4)];
    site.page = { status: 429, headers: { 'retry-after': '0' } };
    paths();
    expect((await read(10, 0)).warnings.length).toBe(1);
    expect([paths().length, heldOff]).toEqual([2, []]);
  });

  it('does not prevent the next request if it cannot be read for another reason', async () => {
    const { site, read } = search(4, 3, 2, 1);
    await read(0);
    site.entries = [catalogItem(4)];
    site.pages = { [listingId(1)]: { status: 503 }, [listingId(2)]: { status: 404 } };
    const fetched = await read(10, 0);
    expect([news(fetched), fetched.warnings]).toEqual([[`listing.delisted ${vinted(2)}:delisted:1`], []]);
  });
});
