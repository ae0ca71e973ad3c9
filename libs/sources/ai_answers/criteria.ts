import type { JsonObject } from '@bufbuild/protobuf';
import type { Criteria } from '#contracts';
import type { Fault } from '#kernel';
import { foldTerm } from '#matching';
import { countryOf, filterOf, filterTexts } from '../shared/filters.js';
import { alternativesOf } from '../shared/terms.js';
import { ENGINES, tokenSetting, type Engine } from './answer.js';
import { domainOf, type BrandDomains } from './brands.js';

const MAX_PROMPT_LENGTH = 1_000;
const MAX_BRANDS = 20;
const MAX_BRAND_LENGTH = 100;
const MAX_DOMAINS = 20;

const REGIONS = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
// `Intl` has names for these regions, but they are not countries.
const NO_COUNTRIES = new Set(['EU', 'EZ', 'UN', 'QO', 'XA', 'XB', 'ZZ']);

/** Returns the prompt of a search; empty if it has none. */
export function promptOf(criteria: Criteria): string {
  const prompt = filterOf(criteria, 'prompt');
  return typeof prompt === 'string' ? prompt.trim() : '';
}

/** Returns the brands of a search: `filters.brands`, or otherwise its query and terms. */
export function brandsOf(criteria: Criteria): string[] {
  const named = filterTexts(criteria, 'brands');
  const brands = named.length > 0 ? named : alternativesOf(criteria).flat();
  const known = new Set<string>();
  return brands.filter((brand) => {
    const folded = foldTerm(brand);
    return !known.has(folded) && known.add(folded);
  });
}

/** Returns the domains of the brands from `filters.brand_domains`; empty if the filter is not set. */
export function brandDomainsOf(criteria: Criteria): BrandDomains {
  const value = filterOf(criteria, 'brand_domains');
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).map(([brand, domains]) => [
      brand,
      Array.isArray(domains) ? domains.filter((domain) => typeof domain === 'string') : [],
    ]),
  );
}

/**
 * Returns the country of the person who asks. Undefined if the market is not a country, because engines refuse other
 * values.
 */
export function placeOf(criteria: Criteria): string | undefined {
  const country = countryOf(criteria);
  if (country === undefined || NO_COUNTRIES.has(country)) return undefined;
  return REGIONS.of(country) === undefined ? undefined : country;
}

/** Returns the engines of a search: those that it names, otherwise all that are configured. */
export function enginesOf(criteria: Criteria, configured: readonly Engine[]): Engine[] {
  const named = filterTexts(criteria, 'engines');
  return named.length === 0 ? [...configured] : ENGINES.filter((engine) => named.includes(engine));
}

/** Returns a fault for each part of the criteria that the engines do not support. */
export function faultsOf(criteria: Criteria, configured: readonly Engine[]): Fault[] {
  return [
    ...faultsOfPrompt(criteria),
    ...faultsOfBrands(criteria),
    ...faultsOfDomains(criteria),
    ...faultsOfEngines(criteria, configured),
  ];
}

function faultsOfPrompt(criteria: Criteria): Fault[] {
  const length = [...promptOf(criteria)].length;
  if (length > 0 && length <= MAX_PROMPT_LENGTH) return [];
  const message = `a search on ai_answers needs a prompt (the question to the engines) of 1 to ${MAX_PROMPT_LENGTH} characters`;
  return [{ path: 'filters.prompt', message }];
}

function faultsOfBrands(criteria: Criteria): Fault[] {
  const value = filterOf(criteria, 'brands');
  if (value === undefined) return [];
  const path = 'filters.brands';
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_BRANDS) {
    return [{ path, message: `must be a list of 1 to ${MAX_BRANDS} names of brands` }];
  }
  return value.flatMap((brand: unknown, n) => {
    const isName =
      typeof brand === 'string' && foldTerm(brand) !== '' && [...brand.trim()].length <= MAX_BRAND_LENGTH;
    const message = `must be the name of a brand, 1 to ${MAX_BRAND_LENGTH} characters`;
    return isName ? [] : [{ path: `${path}[${n}]`, message }];
  });
}

function faultsOfDomains(criteria: Criteria): Fault[] {
  const value = filterOf(criteria, 'brand_domains');
  if (value === undefined) return [];
  const path = 'filters.brand_domains';
  const message = 'must map names of brands to lists of their domains, such as {"Acme": ["acme.com"]}';
  if (!isObject(value)) return [{ path, message }];
  const isDomain = (domain: unknown) => typeof domain === 'string' && domainOf(domain) !== undefined;
  return Object.entries(value).flatMap(([brand, domains]) => {
    const isList =
      Array.isArray(domains) &&
      domains.length > 0 &&
      domains.length <= MAX_DOMAINS &&
      domains.every(isDomain);
    if (isList) return [];
    return [
      {
        path: `${path}.${brand}`,
        message: `must be a list of 1 to ${MAX_DOMAINS} domains, such as "acme.com"`,
      },
    ];
  });
}

function faultsOfEngines(criteria: Criteria, configured: readonly Engine[]): Fault[] {
  const value = filterOf(criteria, 'engines');
  if (value === undefined) return [];
  const path = 'filters.engines';
  const named = filterTexts(criteria, 'engines');
  if (!Array.isArray(value) || named.length === 0 || value.some((one) => typeof one !== 'string')) {
    return [{ path, message: `must be a list of engines: ${ENGINES.join(', ')}` }];
  }
  return named.flatMap((name) => {
    const engine = ENGINES.find((one) => one === name);
    if (!engine)
      return [{ path, message: `"${name}" is not an engine; the engines are ${ENGINES.join(', ')}` }];
    if (configured.includes(engine)) return [];
    return [{ path, message: `${engine} is not configured here; set ${tokenSetting(engine)}` }];
  });
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
