import { LRUCache } from 'lru-cache';
import type { FetchContext } from '../source.js';

/**
 * What a lane remembers under `name` for its life, at most so many entries: for whatever is known by names that users
 * give (servers, feeds), of which there is no end.
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
