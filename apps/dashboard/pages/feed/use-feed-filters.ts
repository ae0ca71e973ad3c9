import { useMemo } from 'react';
import { useSearchParams } from 'react-router';
import { readFilters, writeFilters, type FeedFilters } from './feed-filters.js';

/** The filters of the address bar, and a function that changes some of them. */
export function useFeedFilters() {
  const [params, setParams] = useSearchParams();
  const address = writeFilters(readFilters(params)).toString();
  const filters = useMemo(() => readFilters(new URLSearchParams(address)), [address]);
  const change = (changes: Partial<FeedFilters>) => setParams(writeFilters({ ...filters, ...changes }));
  return { filters, address, change };
}
