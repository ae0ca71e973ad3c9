import { addressToReturnTo } from '../../apps/dashboard/pages/sign-in/return-address.js';

const ORIGIN = 'https://earshot.example';

describe('addressToReturnTo', () => {
  it('returns the requested page with its filters', () => {
    expect(addressToReturnTo('/feed?q=lamp&window=30d#top', ORIGIN)).toBe('/feed?q=lamp&window=30d#top');
  });

  it.each([
    [null],
    ['feed'],
    ['https://example.net/'],
    ['//example.net/'],
    ['/\\example.net/'],
    ['/\t/example.net/'],
    ['/.//example.net/'],
    ['/feed/..//example.net/'],
    ['//['],
    ['javascript:alert(1)'],
  ])('returns the feed for %j, which is not a page of this site', (given) => {
    expect(addressToReturnTo(given, ORIGIN)).toBe('/feed');
  });
});
