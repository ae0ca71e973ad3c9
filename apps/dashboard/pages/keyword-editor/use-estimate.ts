import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.js';
import type { KeywordBody } from './draft.js';

const PAUSE_MS = 500;

/** The price of a body, or why it would be refused; asked again when nobody has typed for half a second. */
export function useEstimate(body: KeywordBody) {
  const text = JSON.stringify(body);
  const [settled] = useDebouncedValue(text, PAUSE_MS);
  const found = useQuery({
    queryKey: ['/v1/keywords/estimate', settled],
    queryFn: ({ signal }) =>
      api.post('/v1/keywords/estimate', { body: JSON.parse(settled) as KeywordBody, signal }),
    placeholderData: keepPreviousData,
    staleTime: 5 * 60_000,
    gcTime: 60_000,
  });
  return { ...found, isCurrent: settled === text && !found.isPlaceholderData };
}

/** The faults that an estimate reports about fields. */
export function faultsOf(estimate: ReturnType<typeof useEstimate>['data']) {
  return estimate?.valid === false ? (estimate.refusal.details ?? []) : [];
}
