import { create } from '@bufbuild/protobuf';
import { WatchSchema, type KeywordDefinition, type SourceId, type Watch } from '#contracts';
import { criteriaHash, resolveCriteria } from '#criteria';
import { newId } from '#kernel';

/** The child watches of a keyword: one for each search of an enabled source. */
export function planWatches(definition: KeywordDefinition): Watch[] {
  const global = definition.globalCriteria;
  if (!global) return [];
  return definition.sources
    .filter((entry) => entry.enabled)
    .flatMap((entry) => {
      const intervalSeconds = entry.refreshIntervalSeconds ?? definition.refreshIntervalSeconds;
      // A source without searches has one: the global criteria.
      const searches = entry.searches.length > 0 ? entry.searches : [undefined];
      return searches.map((search) => {
        const criteria = resolveCriteria(global, search?.overridesEnabled ? search.overrides : undefined);
        return create(WatchSchema, {
          watchId: newId(),
          source: entry.source,
          searchId: search?.id ?? '',
          criteria,
          criteriaHash: criteriaHash(entry.source as SourceId, criteria),
          intervalSeconds,
          backfill: definition.backfill,
        });
      });
    });
}

/** The definition with an id on every search and rule that came without one. */
export function withIds(definition: KeywordDefinition): KeywordDefinition {
  for (const entry of definition.sources) for (const search of entry.searches) search.id ||= newId();
  for (const rule of definition.rules) rule.id ||= newId();
  return definition;
}
