import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from './client.js';

/** Reads the names of the keywords by id, including retired keywords, because their mentions stay. */
export function useKeywordNames(): ReadonlyMap<string, string> {
  const data = useNames();
  return useMemo(() => new Map(data), [data]);
}

/** Returns a function that names a keyword for people, also before the names are loaded, or if the keyword is purged. */
export function useKeywordName(): (id: string) => string {
  const data = useNames();
  return useMemo(() => {
    const names = new Map(data);
    return (id) => names.get(id) ?? (data ? 'A deleted keyword' : 'A keyword');
  }, [data]);
}

function useNames(): [string, string][] | undefined {
  const { data } = useQuery({
    queryKey: ['/v1/keywords', 'names'],
    queryFn: async () => {
      const names: [string, string][] = [];
      for await (const { id, name } of api.paginate('/v1/keywords', { query: { limit: 200 } }))
        names.push([id, name]);
      return names;
    },
    staleTime: 60_000,
  });
  return data;
}
