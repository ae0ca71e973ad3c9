import type { JsonObject } from '@bufbuild/protobuf';
import type { Criteria } from '#contracts';
import type { Fault } from '#kernel';

/** Returns the value of one of the source's own filters; undefined if the search does not have it, or it is null. */
export function filterOf(criteria: Criteria, key: string): unknown {
  return (criteria.filters as JsonObject | undefined)?.[key] ?? undefined;
}

/**
 * Returns a filter with a text or a list of texts as a list: trimmed, without duplicates and empty texts. Values of
 * other types are left out.
 */
export function filterTexts(criteria: Criteria, key: string): string[] {
  const value = filterOf(criteria, key);
  const texts = (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string');
  return [...new Set(texts.map((text) => text.trim()).filter((text) => text !== ''))];
}

/** The rules of a filter with texts. */
export interface TextFilter {
  key: string;
  /** The text after "must be" in a fault, for example `a language such as "en", or a list of them`. */
  wanted: string;
  valid(text: string): boolean;
  /** Maximum number of texts, default 20. */
  max?: number;
}

/** Returns the fault of a filter with texts: a value of another type, no text, an invalid text, or too many texts. */
export function faultsOfTexts(criteria: Criteria, { key, wanted, valid, max = 20 }: TextFilter): Fault[] {
  const value = filterOf(criteria, key);
  if (value === undefined) return [];
  const path = `filters.${key}`;
  const ofTexts = Array.isArray(value)
    ? value.every((one) => typeof one === 'string')
    : typeof value === 'string';
  const texts = filterTexts(criteria, key);
  if (!ofTexts || texts.length === 0) return [{ path, message: `must be ${wanted}` }];
  const bad = texts.find((text) => !valid(text));
  if (bad !== undefined) return [{ path, message: `must be ${wanted}; "${bad}" is not valid` }];
  return texts.length > max
    ? [{ path, message: `must have at most ${max} ${max === 1 ? 'value' : 'values'}` }]
    : [];
}

/** Returns the fault of a sort order that the source does not support. */
export function faultsOfSort(source: string, criteria: Criteria, sorts: readonly string[]): Fault[] {
  const sort = sortOf(criteria);
  if (sort === undefined || sorts.includes(sort)) return [];
  const message =
    sorts.length === 0
      ? `${source} has no sort orders: the newest items come first`
      : `${source} sorts by ${sorts.join(', ')}, not by "${sort}"`;
  return [{ path: 'sort', message }];
}

/** Returns the sort order of the search; undefined if the search has no sort order. */
export function sortOf(criteria: Criteria): string | undefined {
  return criteria.sort?.trim() || undefined;
}

/** Returns the market as an ISO 3166 country code in capitals; undefined if it is not one country (`global`). */
export function countryOf(criteria: Criteria): string | undefined {
  const market = criteria.market?.trim().toUpperCase() ?? '';
  if (!/^[A-Z]{2}$/.test(market)) return undefined;
  // UK is a common name; the ISO code is GB.
  return market === 'UK' ? 'GB' : market;
}
