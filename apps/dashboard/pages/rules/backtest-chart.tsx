import { BarChart } from '@mantine/charts';
import '@mantine/charts/styles.css';
import { dayOf } from '../../parts/format.js';

const COLOURS = ['earshot.5', 'teal.6', 'orange.6', 'grape.6', 'red.6', 'cyan.7', 'lime.7', 'pink.6'];

interface Props {
  byRule: readonly { ruleId: string; name: string; perDay: readonly { date: string; count: number }[] }[];
}

/** How often each rule would have fired on each day. */
export function Component({ byRule }: Props) {
  const dates = [...new Set(byRule.flatMap(({ perDay }) => perDay.map(({ date }) => date)))].sort();
  const data = dates.map((date) => ({
    day: dayOf(date),
    ...Object.fromEntries(
      byRule.map(({ ruleId, perDay }) => [ruleId, perDay.find((one) => one.date === date)?.count ?? 0]),
    ),
  }));
  return (
    <BarChart
      h={220}
      data={data}
      dataKey="day"
      type="stacked"
      withLegend
      series={byRule.map(({ ruleId, name }, index) => ({
        name: ruleId,
        label: name,
        color: COLOURS[index % COLOURS.length] ?? 'earshot.5',
      }))}
      barChartProps={{ accessibilityLayer: false }}
    />
  );
}
