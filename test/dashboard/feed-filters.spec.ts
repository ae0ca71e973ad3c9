import { apiFilters, readFilters } from '../../apps/dashboard/pages/feed/feed-filters.js';

const at = (time: string) => Date.parse(`2026-11-24T${time}Z`);
const sinceOf = (search: string, now: number) =>
  apiFilters(readFilters(new URLSearchParams(search)), now).since;

describe('the beginning of the period of a feed', () => {
  it('is the length of the chosen period before now', () => {
    expect(sinceOf('window=24h', at('10:13:14'))).toBe('2026-11-23T10:13:14.000Z');
  });

  it('stays the same for ten minutes if a search by meaning is repeated', () => {
    const search = 'q=a+lamp&mode=semantic&window=24h';
    expect(sinceOf(search, at('10:10:00'))).toBe('2026-11-23T10:10:00.000Z');
    expect(sinceOf(search, at('10:19:59'))).toBe('2026-11-23T10:10:00.000Z');
  });

  it('ignores a time in the address whose year has more than four digits', () => {
    expect(sinceOf('window=24h&since=%2B275760-09-13T00:00:00.000Z', at('10:13:14'))).toBe(
      '2026-11-23T10:13:14.000Z',
    );
  });

  it('is the time in the address if the address has a time', () => {
    expect(sinceOf('q=a&mode=semantic&since=2026-01-01T00:00:01Z', at('10:10:00'))).toBe(
      '2026-01-01T00:00:01.000Z',
    );
  });
});
