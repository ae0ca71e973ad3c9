import { useInfiniteQuery, type QueryKey } from '@tanstack/react-query';

interface Page<Row> {
  data: Row[];
  nextCursor?: string | undefined;
}

interface Options<Row> {
  staleTime?: number;
  /** Returns after how many milliseconds the rows are read again; false if they are not read again. */
  refetchInterval?: (rows: readonly Row[]) => number | false;
}

/**
 * Reads a list of the API, page by page.
 * @param read reads one page; must send the cursor in the query of the request
 * @returns a query whose data are the rows of all pages that were read
 */
export function usePages<Row>(
  queryKey: QueryKey,
  read: (page: { cursor?: string }, signal: AbortSignal) => Promise<Page<Row>>,
  { staleTime, refetchInterval }: Options<Row> = {},
) {
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => read(pageParam ? { cursor: pageParam } : {}, signal),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    select: ({ pages }) => rowsOf(pages),
    ...(staleTime !== undefined && { staleTime }),
    ...(refetchInterval && {
      refetchInterval: ({ state }: { state: { data?: { pages: Page<Row>[] } | undefined } }) =>
        refetchInterval(rowsOf(state.data?.pages ?? [])),
    }),
  });
}

const rowsOf = <Row>(pages: readonly Page<Row>[]): Row[] => pages.flatMap(({ data }) => data);
