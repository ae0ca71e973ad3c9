import { useMutation, useQueryClient } from '@tanstack/react-query';
import { notifyFailure } from '../../parts/notify.js';

/**
 * A change of one row of a list. The list is read again after the change.
 * @param failure the title under which a refusal is reported
 */
export function useRowChange<T>(path: string, failure: string, change: (row: T) => Promise<unknown>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onError: (error) => notifyFailure(failure, error),
    onSettled: () => queries.invalidateQueries({ queryKey: [path] }),
  });
}
