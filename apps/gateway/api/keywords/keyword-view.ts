import type { KeywordEntity } from '#postgres';
import { isoOf } from '#kernel';
import type { WatchRead } from '../../reads/keyword-reads.js';
import { definitionView } from './definition.js';

/** The keyword object of the interface: the create body with its effective values, and the read-only keys. */
export function keywordView(keyword: KeywordEntity, watches: readonly WatchRead[]) {
  return {
    id: keyword.keywordId,
    ...definitionView(keyword.definition),
    state: keyword.state,
    pausedReason: keyword.pausedReason,
    createdAt: isoOf(keyword.createdAt),
    updatedAt: isoOf(keyword.updatedAt),
    version: keyword.version,
    watches: watches.map(({ watch, lastCheckedAt, lastStatus }) => ({
      id: watch.watchId,
      source: watch.source,
      searchId: watch.searchId,
      criteriaHash: watch.criteriaHash,
      refreshIntervalSeconds: watch.intervalSeconds,
      isActive: watch.isActive,
      pausedReason: watch.pausedReason,
      lastCheckedAt,
      lastStatus,
    })),
  };
}
