import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '../../api/client.js';
import type { ApiFilters } from './feed-filters.js';
import { feedMention } from './feed-mention.js';

/** The first page is small, so that something is there at once. */
const FIRST_PAGE = 50;
const LATER_PAGE = 200;

/** The mentions of the filters, page by page. */
export function useMentions(query: ApiFilters, isEnabled: boolean) {
  const found = useInfiniteQuery({
    queryKey: ['/v1/mentions', 'feed', query],
    queryFn: async ({ pageParam, signal }) => {
      const limit = pageParam ? LATER_PAGE : FIRST_PAGE;
      const cursor = pageParam ? { cursor: pageParam } : {};
      const page = await api.get('/v1/mentions', { query: { ...query, limit, ...cursor }, signal });
      return { ...page, data: page.data.map(feedMention) };
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    enabled: isEnabled,
    // New ones arrive by the stream; reading all pages again would cost more than it brings.
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    structuralSharing: false,
    gcTime: 30_000,
  });
  const { data } = found;
  const mentions = useMemo(() => data?.pages.flatMap((page) => page.data) ?? [], [data]);
  const creditsUsed = data?.pages[0]?.meta.credits_used ?? 0;
  return { ...found, mentions, creditsUsed };
}
