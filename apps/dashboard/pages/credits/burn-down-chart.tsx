import { AreaChart } from '@mantine/charts';
import '@mantine/charts/styles.css';
import { dayOf, short } from '../../parts/format.js';
import type { DayBalance } from './burn-down.js';

/** The balance of the period day by day, and the forecast. */
export function Component({ days }: { days: DayBalance[] }) {
  return (
    <AreaChart
      h={260}
      data={days.map((day) => ({ ...day, label: dayOf(day.day) }))}
      dataKey="label"
      series={[
        { name: 'remaining', label: 'Remaining', color: 'earshot.5' },
        { name: 'forecast', label: 'Forecast', color: 'gray.5', strokeDasharray: '5 4' },
      ]}
      withLegend
      withDots={false}
      curveType="linear"
      valueFormatter={short}
      areaChartProps={{ accessibilityLayer: false }}
      yAxisProps={{ width: 56 }}
    />
  );
}
