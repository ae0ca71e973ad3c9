import { LRUCache } from 'lru-cache';
import type { FetchContext } from '../source.js';

/**
 * A cache in a lane's session, with a maximum number of entries. It is for data about servers and feeds in searches,
 * because users can name any number of them.
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
