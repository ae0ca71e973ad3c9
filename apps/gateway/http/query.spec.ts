import { Refusal } from '#kernel';
import { QueryReader, type RawQuery } from './query.js';

function faultsOf(raw: RawQuery, read: (query: QueryReader) => unknown) {
  const query = new QueryReader(raw);
  read(query);
  try {
    query.finish();
    return [];
  } catch (error) {
    return (error as Refusal).details;
  }
}

describe('the query reader', () => {
  it('reads all values of a repeated key', () => {
    const query = new QueryReader({ source: ['rss', 'reddit'] });
    expect(query.all('source', ['rss', 'reddit'])).toEqual(['rss', 'reddit']);
    expect(query.all('author')).toEqual([]);
    expect(() => query.finish()).not.toThrow();
  });

  it('refuses a time range that ends before it begins', () => {
    const read = (query: QueryReader) => query.span('from', 'to');
    expect(faultsOf({ from: '2026-01-02', to: '2026-01-01' }, read)).toEqual([
      { path: 'from', message: 'must not be later than to' },
    ]);
    expect(faultsOf({ from: '2026-01-01', to: '2026-01-01' }, read)).toEqual([]);
    expect(faultsOf({ to: '2026-01-01' }, read)).toEqual([]);
  });

  it.each([
    ['the end', '2026-02-02T00:00:00Z', '2026-02-01T23:00:00.000Z'],
    ['the end, if the end is before 1970', '1969-12-31T00:00:00Z', '1969-12-31T00:00:00.000Z'],
  ])('lets a window without a start begin at most the default length before %s', (_, until, since) => {
    expect(new QueryReader({ until }).window('since', 'until', 3_600_000).from.toISOString()).toBe(since);
  });

  it('reports an unknown parameter', () => {
    expect(faultsOf({ limt: '5' }, (query) => query.integer('limit', 1, 200, 50))).toEqual([
      { path: 'limt', message: 'is not a known parameter; did you mean limit?' },
    ]);
  });

  it.each(['\0', 'a\0b', '\ud800'])('refuses %j, which Postgres cannot store', (text) => {
    expect(faultsOf({ q: ['fine', text] }, (query) => query.all('q'))).toEqual([
      { path: 'q', message: 'must not contain U+0000 or an unpaired surrogate (half of a character)' },
    ]);
  });

  it('reports all faults together', () => {
    const faults = faultsOf({ limit: '0', order: 'up', since: 'yesterday', x: '' }, (query) => {
      query.integer('limit', 1, 200, 50);
      query.one('order', ['asc', 'desc']);
      query.instant('since');
    });
    expect(faults?.map(({ path }) => path)).toEqual(['limit', 'order', 'since', 'x']);
  });

  it('refuses a repeated key that can be given only once', () => {
    expect(faultsOf({ cursor: ['a', 'b'] }, (query) => query.one('cursor'))).toEqual([
      { path: 'cursor', message: 'can be given only once' },
    ]);
  });

  it.each(['0', '501', '-1', '1.5', '1e2', ' 5', '', 'ten', '0x10'])(
    'refuses %j as a number from 1 to 500 [limits.activity]',
    (text) => {
      expect(faultsOf({ limit: text }, (query) => query.integer('limit', 1, 500, 100))).toEqual([
        { path: 'limit', message: 'must be a whole number from 1 to 500' },
      ]);
    },
  );

  it.each([
    ['1', 1],
    ['500', 500],
    ['007', 7],
    [undefined, 100],
  ])('reads the limit %j as %d', (text, value) => {
    expect(new QueryReader({ limit: text }).integer('limit', 1, 500, 100)).toBe(value);
  });

  it.each([
    ['2026-03-04', '2026-03-04T00:00:00.000Z'],
    ['2026-03-04T05:06Z', '2026-03-04T05:06:00.000Z'],
    ['2026-03-04T05:06:07', '2026-03-04T05:06:07.000Z'],
    ['2026-03-04 05:06:07', '2026-03-04T05:06:07.000Z'],
    ['2026-03-04T05:06:07.089Z', '2026-03-04T05:06:07.089Z'],
    ['2026-03-04T05:06:07.089123456Z', '2026-03-04T05:06:07.089Z'],
    ['2026-03-04T05:06:07+02:00', '2026-03-04T03:06:07.000Z'],
    ['2026-03-04T05:06:07 02:00', '2026-03-04T03:06:07.000Z'],
    ['2026-03-04 05:06', '2026-03-04T05:06:00.000Z'],
    ['2026-03-04T05:06:07-0930', '2026-03-04T14:36:07.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59', '9999-12-31T23:59:59.000Z'],
  ])('reads the time %j as %s, in UTC when it has no offset [requests.offsets]', (text, iso) => {
    expect(new QueryReader({ since: text }).instant('since')?.toISOString()).toBe(iso);
  });

  it.each([
    '',
    'now',
    '1772600767',
    '2026-13-01',
    '2026-02-30T00:00:00Z',
    '2026-02-29',
    '2026-03-04T25:00:00Z',
    '04.03.2026',
  ])('refuses %j as a time', (text) => {
    expect(faultsOf({ since: text }, (query) => query.instant('since'))).toEqual([
      { path: 'since', message: 'must be an ISO 8601 date-time' },
    ]);
  });

  it.each(['9999-12-31T23:59:59-00:01', '9999-12-31T24:00:00Z', '0001-01-01T00:00:00+00:01', '0000-01-01'])(
    'refuses %j as a time, because Postgres cannot read its year',
    (text) => {
      expect(faultsOf({ since: text }, (query) => query.instant('since'))).toEqual([
        { path: 'since', message: 'must be an ISO 8601 date-time in the years 1 to 9999 of UTC' },
      ]);
    },
  );

  it('reads true and false as a boolean, reads an absent key as false, and refuses other values', () => {
    expect(new QueryReader({ purge: 'true' }).boolean('purge')).toBe(true);
    expect(new QueryReader({ purge: 'false' }).boolean('purge')).toBe(false);
    expect(new QueryReader({}).boolean('purge')).toBe(false);
    expect(faultsOf({ purge: '1' }, (query) => query.boolean('purge'))).toEqual([
      { path: 'purge', message: 'must be one of true, false' },
    ]);
  });
});
