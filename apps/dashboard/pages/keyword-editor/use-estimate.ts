import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.js';
import type { KeywordBody } from './draft.js';

const PAUSE_MS = 500;

/**
 * Requests the price of a body, or the reason why the API would refuse the body. Sends the request half a second after
 * the last change of the body.
 * @param keywordId the keyword that the body changes; undefined for a new keyword
 */
export function useEstimate(body: KeywordBody, keywordId: string | undefined) {
  const text = JSON.stringify(body);
  const [settled] = useDebouncedValue(text, PAUSE_MS);
  const found = useQuery({
    ...estimateQuery(settled, keywordId),
    placeholderData: keepPreviousData,
    staleTime: 5 * 60_000,
    gcTime: 60_000,
  });
  return { ...found, isCurrent: settled === text && !found.isPlaceholderData };
}

/** Returns the query for the estimate of a body. @param body JSON */
export const estimateQuery = (body: string, keywordId: string | undefined) =>
  queryOptions({
    queryKey: ['/v1/keywords/estimate', keywordId, body],
    queryFn: ({ signal }) =>
      api.post('/v1/keywords/estimate', {
        query: { keyword: keywordId },
        body: JSON.parse(body) as KeywordBody,
        signal,
      }),
  });

/** Returns the faults of a refused estimate. */
export function faultsOf(estimate: ReturnType<typeof useEstimate>['data']) {
  return estimate?.valid === false ? (estimate.refusal.details ?? []) : [];
}
