import { domainToUnicode } from 'node:url';
import { compile, foldTerm } from '#matching';
import type { Citation } from './answer.js';

/** Whether an answer mentions and cites one brand. The two results are independent of each other. */
export interface BrandReading {
  brand: string;
  /** The brand's name is in the text, as whole words. */
  mentioned: boolean;
  /** One of the brand's own pages is cited, or a page with the brand's name in the title. */
  cited: boolean;
  /** The first mention, in UTF-16 code units of the text; null if there is none. */
  position: number | null;
}

/**
 * Domains by brand name. For a brand with domains, `cited` depends only on these domains, not on hosts and titles with
 * the brand's name.
 */
export type BrandDomains = Readonly<Record<string, readonly string[]>>;

/** Hosts whose addresses redirect to the cited page. Gemini's citations have the page's domain as their title. */
const REDIRECTS = new Set(['vertexaisearch.cloud.google.com']);
/**
 * Minimum length of a name that is searched for inside a host. Shorter names occur inside too many other words: `arc`
 * in `search`.
 */
const MIN_INNER_LENGTH = 4;

/**
 * Determines which brands an answer mentions and cites. The result depends only on the arguments, so brands that are
 * added later can also be found in stored answers.
 */
export function readBrands(
  text: string,
  citations: readonly Citation[],
  brands: readonly string[],
  brandDomains: BrandDomains = {},
): BrandReading[] {
  const matcher = compile(brands.map((brand, n) => ({ key: String(n), mode: 'word', terms: [brand] })));
  // A name without searchable characters would match everything, so it counts as not found.
  const placesIn = (where: string) =>
    new Map(
      matcher
        .match({ title: '', text: where })
        .flatMap(({ key, matches }) => (matches[0] ? [[Number(key), matches[0].start] as const] : [])),
    );
  const places = placesIn(text);
  const titled = new Set(citations.flatMap(({ title }) => [...placesIn(title).keys()]));
  const hosts = citations.map(hostOf).filter((host) => host !== '');
  const domains = new Map(Object.entries(brandDomains).map(([brand, named]) => [foldTerm(brand), named]));
  return brands.map((brand, n) => {
    const own = domains.get(foldTerm(brand));
    const cited = own
      ? hosts.some((host) => own.some((domain) => isWithin(host, domain)))
      : titled.has(n) || hosts.some((host) => containsName(host, brand));
    return { brand, mentioned: places.has(n), cited, position: places.get(n) ?? null };
  });
}

/** Returns the domain of an address or host: `acme.com` for `https://www.acme.com/shop`; undefined for another text. */
export function domainOf(text: string): string | undefined {
  const named = text.trim().toLowerCase();
  const url = /^https?:\/\//.test(named) ? named : `https://${named}`;
  if (named === '' || !URL.canParse(url)) return undefined;
  const host = plainHost(new URL(url).hostname);
  return /^[^.\s]+(\.[^.\s]+)+$/.test(host) ? host : undefined;
}

function hostOf({ url, title }: Citation): string {
  const host = URL.canParse(url) ? plainHost(new URL(url).hostname) : '';
  return REDIRECTS.has(host) ? (domainOf(title) ?? '') : host;
}

function plainHost(host: string): string {
  return (domainToUnicode(host) || host).replace(/^www\./, '');
}

function isWithin(host: string, domain: string): boolean {
  const own = domainOf(domain);
  return own !== undefined && (host === own || host.endsWith(`.${own}`));
}

/**
 * True if the host contains the brand: `acme rocket` is in acmerocket.com, shop.acme-rocket.de and getacmerocket.io.
 */
function containsName(host: string, brand: string): boolean {
  const name = lettersOf(brand);
  if (name === '') return false;
  // The top-level domain does not identify the brand.
  const labels = host.split('.').slice(0, -1);
  return labels.some((label) => {
    const parts = label.split('-').map(lettersOf);
    if (name.length >= MIN_INNER_LENGTH && parts.join('').includes(name)) return true;
    return parts.some((_, from) => parts.some((__, to) => parts.slice(from, to + 1).join('') === name));
  });
}

// Most domains contain no accents, and no domain contains spaces.
function lettersOf(text: string): string {
  return foldTerm(text.normalize('NFKD').replace(/\p{M}/gu, '')).replace(/[^\p{L}\p{N}]/gu, '');
}
