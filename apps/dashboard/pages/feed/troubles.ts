import type { Keyword, Source, SourceState } from '../../api/types.js';
import type { FeedFilters } from './feed-filters.js';

/** A keyword that is not checked. */
export type PausedKeyword = Pick<Keyword, 'id' | 'name' | 'state' | 'pausedReason'>;

/** What keeps Earshot from finding new mentions for a feed. */
export interface Troubles {
  sources: readonly Source[];
  keywords: readonly PausedKeyword[];
}

/** Returns the sources that do not work and the paused keywords, without those that the filters leave out. */
export function troublesOf(
  sources: readonly Pick<SourceState, 'id' | 'configured' | 'enabled' | 'healthy'>[],
  pausedKeywords: readonly PausedKeyword[],
  filters: Pick<FeedFilters, 'source' | 'keyword'>,
): Troubles {
  const isShown = <T>(chosen: readonly T[], one: T) => chosen.length === 0 || chosen.includes(one);
  return {
    sources: sources
      .filter(({ configured, enabled, healthy }) => configured && enabled && !healthy)
      .map(({ id }) => id)
      .filter((id) => isShown(filters.source, id)),
    keywords: pausedKeywords.filter(({ id }) => isShown(filters.keyword, id)),
  };
}
