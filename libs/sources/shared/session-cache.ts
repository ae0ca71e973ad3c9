import { LRUCache } from 'lru-cache';
import type { FetchContext } from '../source.js';

/**
 * A cache that a lane keeps under `name` for its life, with a maximum number of entries. For data of servers and feeds
 * that users name, of which there may be any number.
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
