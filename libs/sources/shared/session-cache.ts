import { LRUCache } from 'lru-cache';
import type { FetchContext } from '../source.js';

/**
 * Returns a cache in the session of a source, with a maximum number of entries. All lanes of the source in this process
 * share the cache. It is for data about servers, hashtags and feeds in searches, because users can name any number of
 * them.
 */
export function sessionCache<V extends NonNullable<unknown>>(
  { session }: Pick<FetchContext, 'session'>,
  name: string,
  max: number,
): LRUCache<string, V> {
  const kept = session.get(name) as LRUCache<string, V> | undefined;
  if (kept) return kept;
  const fresh = new LRUCache<string, V>({ max });
  session.set(name, fresh);
  return fresh;
}
