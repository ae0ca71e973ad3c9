import { displayUrl } from './index.js';

describe('the recorded form of an address', () => {
  it.each([
    ['https://user:word@example.org:8443/hook/a?token=s3cret#x', 'https://example.org:8443/hook/a'],
    ['http://example.org', 'http://example.org/'],
    ['not a url', ''],
  ])('has no query and no credentials (%s)', (url, shown) => {
    expect(displayUrl(url)).toBe(shown);
  });
});
