import { LineChart } from '@mantine/charts';
import '@mantine/charts/styles.css';
import { dayOf } from '../../parts/format.js';
import type { MarketDay } from './market-day.js';

/** The median and the middle half by day. A day without enough listings is a gap, not a zero. */
export function Component({ days, currency }: { days: readonly MarketDay[]; currency: string }) {
  return (
    <LineChart
      h={240}
      mb="md"
      data={everyDay(days)}
      dataKey="day"
      withLegend
      connectNulls={false}
      curveType="linear"
      unit={` ${currency}`}
      series={[
        { name: 'p75', label: 'Upper quarter', color: 'gray.5', strokeDasharray: '4 4' },
        { name: 'median', label: 'Median', color: 'teal.6' },
        { name: 'p25', label: 'Lower quarter', color: 'gray.5', strokeDasharray: '4 4' },
      ]}
      yAxisProps={{ width: 72, domain: ['auto', 'auto'] }}
      lineChartProps={{ accessibilityLayer: false }}
    />
  );
}

/** Adds the days without observations, so that they are gaps in the chart. */
function everyDay(days: readonly MarketDay[]) {
  const byDate = new Map(days.map((day) => [day.date, day]));
  const dates = [...byDate.keys()].sort();
  const rows = [];
  for (let at = Date.parse(dates[0] ?? ''); at <= Date.parse(dates.at(-1) ?? ''); at += 86_400_000) {
    const date = new Date(at).toISOString().slice(0, 10);
    const { median = null, p25 = null, p75 = null } = byDate.get(date) ?? {};
    rows.push({ day: dayOf(date), median, p25, p75 });
  }
  return rows;
}
