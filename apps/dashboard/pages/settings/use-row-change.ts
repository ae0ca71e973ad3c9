import { useMutation, useQueryClient } from '@tanstack/react-query';
import { notifyFailure } from '../../parts/notify.js';

/**
 * Changes one row of a list, and then reads the list again, also if the change has failed.
 * @param path the path of the list in the API
 * @param failure the title of the notification if the change fails
 */
export function useRowChange<T>(path: string, failure: string, change: (row: T) => Promise<unknown>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onError: (error) => notifyFailure(failure, error),
    onSettled: () => queries.invalidateQueries({ queryKey: [path] }),
  });
}
