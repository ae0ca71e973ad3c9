import { domainOf } from './brands.js';
import { readBrands, type BrandDomains } from './index.js';

const page = (url: string, title = '') => ({ url, title });
const cited = (brand: string, url: string, title = '', domains?: BrandDomains) =>
  readBrands('', [page(url, title)], [brand], domains)[0]?.cited;

describe('the brands that an answer mentions', () => {
  it('are found in its text as whole words in any case, with the position of the first mention', () => {
    const text = 'Try ACME Rocket or Byron; byron is cheaper. Acmeology is no brand.';
    expect(readBrands(text, [], ['Byron', 'acme rocket', 'Acme', 'Ology'])).toEqual([
      { brand: 'Byron', mentioned: true, cited: false, position: 19 },
      { brand: 'acme rocket', mentioned: true, cited: false, position: 4 },
      { brand: 'Acme', mentioned: true, cited: false, position: 4 },
      { brand: 'Ology', mentioned: false, cited: false, position: null },
    ]);
  });

  it('are not found in the addresses of its text', () => {
    expect(readBrands('See ([acme.com](https://acme.com/lamps)).', [], ['Acme'])[0]?.mentioned).toBe(false);
  });

  it('are found in scripts without spaces, and if their names contain signs', () => {
    const text = '最好的是东京灯。C++ and H&M too.';
    expect(readBrands(text, [], ['东京灯', 'C++', 'H&M', '灯京']).map(({ position }) => position)).toEqual([
      4,
      8,
      16,
      null,
    ]);
  });

  it('do not include a name without searchable characters', () => {
    expect(readBrands('Acme', [page('https://acme.com/')], ['\u200b'])).toEqual([
      { brand: '\u200b', mentioned: false, cited: false, position: null },
    ]);
  });
});

describe('the brands that an answer cites', () => {
  it.each([
    ['acme', 'https://www.acme.com/lamps?utm=1'],
    ['Acme Rocket', 'https://acmerocket.io/'],
    ['acme rocket', 'https://shop.acme-rocket.de/a'],
    ['Acme', 'https://getacme.app/'],
    ['Nestlé', 'https://www.nestle.com/'],
    ['H&M', 'https://www2.hm.com/'],
    ['Arc', 'https://arc.net/'],
    ['Arc', 'https://the-arc-lamp.example/'],
    ['Müller Lampen', 'https://xn--mller-lampen-dlb.de/'],
  ])('are found in the host of the page: %s, %s', (brand, url) => {
    expect(cited(brand, url)).toBe(true);
  });

  it('are not found in a host that writes oe for ö', () => {
    expect(cited('Größe', 'https://groesse-groesse.de/')).toBe(false);
  });

  it.each([
    ['Arc', 'https://search.example/arc'],
    ['Acme', 'https://lamps.example/acme'],
    ['com', 'https://lamps.com/'],
    ['Acme', 'not an address'],
    ['!!!', 'https://lamps.example/'],
  ])('do not include %j for the page %j', (brand, url) => {
    expect(cited(brand, url)).toBe(false);
  });

  it('are found in the title of a page, as whole words', () => {
    expect(cited('Acme', 'https://news.example/1', 'Why ACME lamps last')).toBe(true);
    expect(cited('Acme', 'https://news.example/1', 'Acmeology')).toBe(false);
  });

  it('are compared with the domain that Gemini sends as the title, and not with the host of the redirect', () => {
    const redirect = 'https://vertexaisearch.cloud.google.com/grounding-api-redirect/AU1';
    expect(cited('Acme', redirect, 'acme.com')).toBe(true);
    expect(cited('Google', redirect, 'acme.com')).toBe(false);
    expect(cited('Vertex', redirect, 'Weather in Lampville')).toBe(false);
    expect(cited('Acme', redirect, 'acme.com', { acme: ['acme.com'] })).toBe(true);
  });

  it('are found only by their domains if the search contains their domains', () => {
    const domains = { ACME: ['https://www.acme.com/', 'lamps.acme.de'] };
    expect(cited('Acme', 'https://acme.com/a', '', domains)).toBe(true);
    expect(cited('Acme', 'https://shop.acme.com/a', '', domains)).toBe(true);
    expect(cited('Acme', 'https://lamps.acme.de/', '', domains)).toBe(true);
    expect(cited('Acme', 'https://acme.de/', 'Acme lamps', domains)).toBe(false);
    expect(cited('Acme', 'https://notacme.com/', 'Acme', domains)).toBe(false);
    expect(cited('Byron', 'https://byron.example/', '', domains)).toBe(true);
  });

  it('need not be mentioned in the text of the answer', () => {
    const [one] = readBrands('Some lamp.', [page('https://acme.com/')], ['Acme']);
    expect(one).toEqual({ brand: 'Acme', mentioned: false, cited: true, position: null });
    const [other] = readBrands('Acme.', [], ['Acme']);
    expect(other).toEqual({ brand: 'Acme', mentioned: true, cited: false, position: 0 });
  });
});

describe('the domain in a text', () => {
  it.each([
    ['acme.com', 'acme.com'],
    [' HTTPS://www.Acme.com/shop?a=1 ', 'acme.com'],
    ['xn--mller-kva.de', 'müller.de'],
    ['Weather in Lampville, CA', undefined],
    ['acme', undefined],
    ['', undefined],
    ['ftp://acme.com', undefined],
  ])('is read from %j as %s', (text, domain) => {
    expect(domainOf(text)).toBe(domain);
  });
});
