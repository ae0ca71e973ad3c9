import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.js';

/** Counts by day and group. Mentions without a value are in the group with the empty name. */
export interface Series {
  groups: string[];
  days: { date: string; counts: Readonly<Record<string, number>> }[];
  totals: ReadonlyMap<string, number>;
  total: number;
}

/** Reads the counts of a keyword's mentions in the last days, by source or sentiment. */
export function useSeries(keyword: string, days: number, group: 'source' | 'sentiment') {
  return useQuery({
    queryKey: ['/v1/mentions/series', keyword, days, group],
    queryFn: async ({ signal }): Promise<Series> => {
      const since = new Date(Date.now() - days * 86_400_000).toISOString();
      const query = { keyword, bucket: 'day' as const, group, since };
      const { data } = await api.get('/v1/mentions/series', { query, signal });
      return seriesOf(data);
    },
    refetchInterval: 30_000,
  });
}

function seriesOf(rows: readonly { at: string; group: string | null; count: number }[]): Series {
  const days = new Map<string, Record<string, number>>();
  const totals = new Map<string, number>();
  for (const { at, group, count } of rows) {
    const name = group ?? '';
    const day = days.get(at.slice(0, 10)) ?? {};
    days.set(at.slice(0, 10), { ...day, [name]: (day[name] ?? 0) + count });
    totals.set(name, (totals.get(name) ?? 0) + count);
  }
  const groups = [...totals].filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]);
  return {
    groups: groups.map(([name]) => name),
    days: [...days].map(([date, counts]) => ({ date, counts })),
    totals,
    total: groups.reduce((sum, [, n]) => sum + n, 0),
  };
}
