import type { Criteria } from '#contracts';
import type { Fault } from '#kernel';
import { countryOf, faultsOfSort, faultsOfTexts, filterTexts } from '../shared/filters.js';
import { alternativesOf } from '../shared/terms.js';

/** A condition of a video: `field_name` equals one value (EQ) or one of several (IN). */
export interface Condition {
  operation: 'EQ' | 'IN';
  field_name: 'keyword' | 'region_code' | 'username' | 'hashtag_name';
  field_values: string[];
}

/** A video must meet all conditions of `and`, and at least one of `or` if `or` is present. */
export interface VideoQuery {
  and?: Condition[];
  or?: Condition[];
}

/** Returns a fault for each part of the criteria that TikTok does not support. */
export function faultsOf(criteria: Criteria): Fault[] {
  const faults = [
    ...faultsOfTexts(criteria, {
      key: 'username',
      wanted: 'the name of an account, or a list of names',
      valid: (text) => nameOf(text) !== '' && !/\s/.test(text),
    }),
    ...faultsOfTexts(criteria, {
      key: 'hashtag',
      wanted: 'a hashtag, or a list of them',
      valid: (text) => tagOf(text) !== '' && !/\s/.test(text),
    }),
    ...faultsOfTexts(criteria, {
      key: 'region_code',
      wanted: 'a country code such as "DE", or a list of them',
      valid: (text) => /^[A-Za-z]{2}$/.test(text),
    }),
    ...faultsOfSort('tiktok', criteria, []),
  ];
  const named = ['username', 'hashtag'].some((key) => filterTexts(criteria, key).length > 0);
  if (alternativesOf(criteria).length === 0 && !named) {
    const message = 'a search on tiktok needs a query, terms, filters.username or filters.hashtag';
    faults.push({ path: 'query', message });
  }
  return faults;
}

/** Returns the query of a search. TikTok accepts all alternatives in one query. */
export function videoQueryOf(criteria: Criteria): VideoQuery {
  const query = criteria.query?.trim() ?? '';
  const terms = alternativesOf(criteria).flatMap((phrases) => phrases.slice(query === '' ? 0 : 1));
  const keywords = terms.map((term) => equal('keyword', [term]));
  const regions = filterTexts(criteria, 'region_code').map((code) => code.toUpperCase());
  const market = countryOf(criteria);
  const and = [
    ...(query === '' ? [] : [equal('keyword', [query])]),
    ...(keywords.length === 1 ? keywords : []),
    ...among('region_code', regions.length === 0 && market !== undefined ? [market] : regions),
    ...among('username', filterTexts(criteria, 'username').map(nameOf)),
    ...among('hashtag_name', filterTexts(criteria, 'hashtag').map(tagOf)),
  ];
  return {
    ...(and.length > 0 && { and }),
    ...(keywords.length > 1 && { or: keywords }),
  };
}

function among(field: Condition['field_name'], values: string[]): Condition[] {
  if (values.length === 0) return [];
  return [
    values.length === 1 ? equal(field, values) : { operation: 'IN', field_name: field, field_values: values },
  ];
}

function equal(field: Condition['field_name'], values: string[]): Condition {
  return { operation: 'EQ', field_name: field, field_values: values };
}

function nameOf(text: string): string {
  return text.replace(/^@/, '');
}

function tagOf(text: string): string {
  return text.replace(/^#/, '');
}
