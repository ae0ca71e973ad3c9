import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from './client.js';

/** Reads the names of the keywords by id, including retired keywords, because their mentions stay. */
export function useKeywordNames(): ReadonlyMap<string, string> {
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
  return useMemo(() => new Map(data), [data]);
}
