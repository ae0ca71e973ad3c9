import { useMutation, useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.js';
import type { Source } from '../../api/types.js';

/** The question of a preview: any of these terms, in these sources. */
export interface PreviewQuestion {
  terms: readonly string[];
  sources: readonly Source[];
  feedUrls: readonly string[];
}

/** Maximum number of terms of a preview. */
export const MAX_TERMS = 5;
/** Maximum number of feeds of a preview. */
const MAX_FEEDS = 20;
const LIMIT = 25;
const POLL_MS = 1000;
const ITEMS_SHOWN = 200;
/** Maximum number of reads of the items. */
const MAX_READS = 15;

/** Returns the state of a preview: first the price, then the run, then the items. */
export function usePreview({ terms, sources, feedUrls }: PreviewQuestion) {
  const body = {
    question: terms[0] ?? '',
    terms: terms.slice(0, MAX_TERMS),
    ...(sources.includes('rss') && { feedUrls: feedUrls.slice(0, MAX_FEEDS) }),
    sources: [...sources],
    limit: LIMIT,
  };
  const price = useQuery({
    queryKey: ['/v1/explore/estimate', body],
    queryFn: ({ signal }) => api.post('/v1/explore/estimate', { body, signal }),
    enabled: sources.length > 0,
  });
  const start = useMutation({
    mutationFn: () => {
      const headers: Record<string, string> = price.data?.valid
        ? { 'service-estimate-token': price.data.estimateToken }
        : {};
      return api.post('/v1/explore', { body, headers });
    },
    // The price can have expired or changed.
    onError: () => void price.refetch(),
  });
  const path = { id: start.data?.id ?? '' };
  const run = useQuery({
    queryKey: ['/v1/explore', path.id],
    queryFn: ({ signal }) => api.get('/v1/explore/{id}', { path, signal }),
    enabled: start.isSuccess,
    refetchInterval: ({ state }) => (isOver(state.data?.status) ? false : POLL_MS),
  });
  const found = run.data?.sources.reduce((sum, one) => sum + one.items, 0) ?? 0;
  const items = useQuery({
    // The key differs from the query key on the page of an Explore, which reads the items page by page.
    queryKey: ['/v1/explore', path.id, 'preview'],
    queryFn: ({ signal }) =>
      api.get('/v1/explore/{id}/items', { path, query: { limit: ITEMS_SHOWN }, signal }),
    enabled: isOver(run.data?.status),
    // The items arrive in the list a moment after the run has ended.
    refetchInterval: ({ state }) =>
      (state.data?.data.length ?? 0) < Math.min(found, ITEMS_SHOWN) &&
      state.dataUpdateCount + state.errorUpdateCount < MAX_READS
        ? POLL_MS
        : false,
  });
  return { price, start, run, items };
}

const isOver = (status: string | undefined) => status === 'done' || status === 'failed';
