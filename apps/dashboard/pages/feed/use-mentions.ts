import { useInfiniteQuery, type InfiniteData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, patientApi } from '../../api/client.js';
import { queries } from '../../api/queries.js';
import type { ApiFilters } from './feed-filters.js';
import { feedMention } from './feed-mention.js';
import { FIRST_PAGE, takeFirstPage } from './first-page.js';

const LATER_PAGE = 200;

/** Reads the mentions that match the filters, page by page. */
export function useMentions(query: ApiFilters, isEnabled: boolean) {
  const queryKey = ['/v1/mentions', 'feed', query];
  const found = useInfiniteQuery({
    queryKey,
    queryFn: async ({ pageParam, signal }) => {
      const limit = pageParam ? LATER_PAGE : FIRST_PAGE;
      const cursor = pageParam ? { cursor: pageParam } : {};
      const firstPage = pageParam ? undefined : await takeFirstPage(query);
      const { get } = query.mode === 'semantic' ? patientApi : api;
      const page =
        firstPage ?? (await get('/v1/mentions', { query: { ...query, limit, ...cursor }, signal }));
      return { ...page, data: page.data.map(feedMention) };
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    enabled: isEnabled,
    // New mentions arrive over the live stream, so it is not necessary to read all pages again.
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    structuralSharing: false,
    // A cached list would miss the mentions that arrive before the member returns to the feed.
    gcTime: 0,
    meta: { isLive: true },
  });
  const { data } = found;
  const mentions = useMemo(() => data?.pages.flatMap((page) => page.data) ?? [], [data]);
  const creditsUsed = data?.pages[0]?.meta.credits_used ?? 0;
  const lastEventId = data?.pages[0]?.lastEventId;
  /** Reads the first page again; later pages are read when the member scrolls to them. */
  const readAgain = async () => {
    queries.setQueryData<InfiniteData<unknown>>(queryKey, (list) => list && firstPageOf(list));
    const { isSuccess, data: read } = await found.refetch();
    return isSuccess ? read.pages[0]?.lastEventId : undefined;
  };
  return { ...found, mentions, creditsUsed, lastEventId, readAgain };
}

const firstPageOf = ({ pages, pageParams }: InfiniteData<unknown>) => ({
  pages: pages.slice(0, 1),
  pageParams: pageParams.slice(0, 1),
});
