import { createHash } from 'node:crypto';
import { clone, create, fromJson, toJson, type JsonValue } from '@bufbuild/protobuf';
import { canonicalize } from 'json-canonicalize';
import { CriteriaSchema, DEFAULT_MATCH_MODE, type Criteria, type MatchMode, type SourceId } from '#contracts';
import { canonicalTerms } from '#matching';

/**
 * Returns the criteria of a search: each key of its overrides replaces the same key of the global criteria. `filters`
 * are merged in the same way. An empty list of terms replaces nothing.
 */
export function resolveCriteria(global: Criteria, overrides: Criteria | undefined): Criteria {
  const resolved = clone(CriteriaSchema, global);
  if (!overrides) return resolved;
  const { filters, terms, $typeName: _, $unknown: __, ...single } = overrides;
  const given = Object.fromEntries(Object.entries(single).filter(([, value]) => value !== undefined));
  return create(CriteriaSchema, {
    ...resolved,
    ...given,
    terms: terms.length > 0 ? [...terms] : resolved.terms,
    ...(filters || resolved.filters ? { filters: { ...resolved.filters, ...filters } } : {}),
  });
}

/**
 * Returns the identity of a search: SHA-256 (hex) over the canonical JSON (RFC 8785) of everything that distinguishes
 * the search. This is source, market, query (trimmed), terms (trimmed, case-folded, sorted, each once), match, sort,
 * price bounds, filters and repliesTo.
 */
export function criteriaHash(source: SourceId, criteria: Criteria): string {
  const { market, query, priceMin, priceMax, sort, filters, repliesTo, terms } = criteria;
  const match = matchModeOf(criteria);
  const identity = {
    source,
    market,
    query: query?.trim(),
    terms: canonicalTerms(terms),
    match,
    sort,
    priceMin,
    priceMax,
    filters,
    repliesTo,
  };
  return createHash('sha256')
    .update(canonicalize(JSON.parse(JSON.stringify(identity))))
    .digest('hex');
}

/** Returns the search's match mode, or the default. */
export function matchModeOf(criteria: Criteria): MatchMode {
  return (criteria.match as MatchMode | undefined) ?? DEFAULT_MATCH_MODE;
}

/** Returns criteria in the form of the API: camelCase JSON without absent keys. */
export function criteriaJson(criteria: Criteria) {
  return toJson(CriteriaSchema, criteria);
}

/**
 * Reads stored criteria. During an update, a process of the newer release can store a field that this process does not
 * know. The field is left out, because an error would also stop the work on the rows that are read with this row.
 */
export function storedCriteria(json: JsonValue): Criteria {
  return fromJson(CriteriaSchema, json, { ignoreUnknownFields: true });
}
