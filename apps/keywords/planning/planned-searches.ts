import { create } from '@bufbuild/protobuf';
import {
  PRICE_BOOK_VERSION,
  WatchSchema,
  type Criteria,
  type KeywordDefinition,
  type SourceId,
  type Watch,
} from '#contracts';
import { criteriaHash, resolveCriteria } from '#criteria';
import { newId } from '#kernel';
import { priceOf, type PricedParts, type QuotedSearch } from '#quotes';

/** One search of a keyword with its effective criteria. */
export interface PlannedSearch extends QuotedSearch {
  /** False if the keyword disables its source. */
  enabled: boolean;
  /** The path of the criteria that contain the terms, in the request body. Faults name this path. */
  path: string;
  criteriaHash: string;
}

/** Returns the searches of a keyword in the order of its body, including searches on disabled sources. */
export function plannedSearches(definition: KeywordDefinition): PlannedSearch[] {
  const global = definition.globalCriteria;
  if (!global) return [];
  return definition.sources.flatMap((entry, index) => {
    const source = entry.source as SourceId;
    const planned = (criteria: Criteria, searchId: string | null, label: string | null, path: string) => ({
      source,
      searchId,
      label,
      path,
      criteria,
      criteriaHash: criteriaHash(source, criteria),
      enabled: entry.enabled,
      intervalSeconds: entry.refreshIntervalSeconds ?? definition.refreshIntervalSeconds,
      coBrands: definition.coBrandsEnabled,
      backfill: definition.backfill,
    });
    // A source without searches has one search, which uses the global criteria.
    if (entry.searches.length === 0) return [planned(global, null, null, 'globalCriteria')];
    return entry.searches.map((search, n) =>
      planned(
        resolveCriteria(global, search.overridesEnabled ? search.overrides : undefined),
        search.id || null,
        search.label ?? null,
        search.overridesEnabled && search.overrides?.terms.length
          ? `sources[${index}].searches[${n}].overrides`
          : 'globalCriteria',
      ),
    );
  });
}

/** Returns a watch for each search, with a new id. */
export function watchesOf(
  searches: readonly PlannedSearch[],
  partsOf: (source: SourceId) => PricedParts,
): Watch[] {
  return searches.map((search) => {
    const { creditsPerCheck, firstScanCredits } = priceOf(search, partsOf(search.source));
    return create(WatchSchema, {
      watchId: newId(),
      source: search.source,
      searchId: search.searchId ?? '',
      criteria: search.criteria,
      criteriaHash: search.criteriaHash,
      intervalSeconds: search.intervalSeconds,
      backfill: search.backfill,
      disabled: !search.enabled,
      coBrands: search.coBrands,
      creditsPerCheck,
      firstScanCredits,
      priceBookVersion: PRICE_BOOK_VERSION,
    });
  });
}

/**
 * Adds an id to each search and each rule without an id. A search whose source and criteria have not changed keeps its
 * id, even if the body does not contain the id.
 * @param previous the keyword's watches before the change
 * @returns the same object, which is changed
 */
export function withIds(definition: KeywordDefinition, previous: readonly Watch[] = []): KeywordDefinition {
  const named = new Set(definition.sources.flatMap(({ searches }) => searches.map(({ id }) => id)));
  const free = previous.filter(({ searchId }) => searchId !== '' && !named.has(searchId));
  const global = definition.globalCriteria;
  for (const entry of definition.sources)
    for (const search of entry.searches) {
      if (search.id || !global) continue;
      const criteria = resolveCriteria(global, search.overridesEnabled ? search.overrides : undefined);
      const hash = criteriaHash(entry.source as SourceId, criteria);
      const known = free.findIndex((watch) => watch.source === entry.source && watch.criteriaHash === hash);
      search.id = free.splice(known, known < 0 ? 0 : 1)[0]?.searchId ?? newId();
    }
  for (const rule of definition.rules) rule.id ||= newId();
  return definition;
}
