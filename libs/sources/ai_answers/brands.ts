import { domainToUnicode } from 'node:url';
import { compile, foldTerm } from '#matching';
import type { Citation } from './answer.js';

/** What an answer says of one brand. The two questions are independent: neither answer tells the other. */
export interface BrandReading {
  brand: string;
  /** Its name stands in the text, as whole words. */
  mentioned: boolean;
  /** A page of its own, or one with its name in the title, is cited. */
  cited: boolean;
  /** Where it is first mentioned, in UTF-16 code units of the text; null where it is not. */
  position: number | null;
}

/** Domains of brands, by the brand's name: what they say of `cited` replaces what names and titles say. */
export type BrandDomains = Readonly<Record<string, readonly string[]>>;

/** Hosts of addresses that only lead on to the page: Gemini's, whose titles are the page's domain. */
const REDIRECTS = new Set(['vertexaisearch.cloud.google.com']);
/** Shorter names stand in the middle of too many others: `arc` in `search`. */
const SHORTEST_INSIDE = 4;

/**
 * Reads from an answer which brands it mentions and which it cites. Pure: a brand that is named later is read from the
 * answers that were kept.
 */
export function readBrands(
  text: string,
  citations: readonly Citation[],
  brands: readonly string[],
  brandDomains: BrandDomains = {},
): BrandReading[] {
  const matcher = compile(brands.map((brand, n) => ({ key: String(n), mode: 'word', terms: [brand] })));
  // A name that leaves nothing to look for matches everything, and stands nowhere.
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
      : titled.has(n) || hosts.some((host) => bearsName(host, brand));
    return { brand, mentioned: places.has(n), cited, position: places.get(n) ?? null };
  });
}

/** `https://www.acme.com/shop` as `acme.com`; undefined where it is no domain. */
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

/** `acme rocket` is borne by acmerocket.com, shop.acme-rocket.de and getacmerocket.io. */
function bearsName(host: string, brand: string): boolean {
  const name = lettersOf(brand);
  if (name === '') return false;
  // The ending says where, not who.
  const labels = host.split('.').slice(0, -1);
  return labels.some((label) => {
    const parts = label.split('-').map(lettersOf);
    if (name.length >= SHORTEST_INSIDE && parts.join('').includes(name)) return true;
    return parts.some((_, from) => parts.some((__, to) => parts.slice(from, to + 1).join('') === name));
  });
}

// Domains are written without accents, and without what parts words.
function lettersOf(text: string): string {
  return foldTerm(text.normalize('NFKD').replace(/\p{M}/gu, '')).replace(/[^\p{L}\p{N}]/gu, '');
}
