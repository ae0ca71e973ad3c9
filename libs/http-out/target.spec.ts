import { displayUrl } from './index.js';

describe('the recorded form of an address', () => {
  it.each([
    ['https://user:word@example.org:8443/hook/a?token=s3cret#x', 'https://example.org:8443/hook/a'],
    ['http://example.org', 'http://example.org/'],
    ['not a url', ''],
  ])('of %s contains neither the query nor credentials', (url, shown) => {
    expect(displayUrl(url)).toBe(shown);
  });
});
