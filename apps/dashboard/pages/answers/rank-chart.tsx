import { LineChart } from '@mantine/charts';
import '@mantine/charts/styles.css';
import { minuteOf } from '../../parts/format.js';
import { ENGINES } from './engine-table.js';
import { rankOf, type Answer } from './rank.js';

const COLOURS: Readonly<Record<Answer['engine'], string>> = {
  openai: 'teal.6',
  anthropic: 'orange.6',
  perplexity: 'cyan.7',
  gemini: 'earshot.5',
};

/** The rank of a brand by engine over time. */
export function Component({ answers, brand }: { answers: readonly Answer[]; brand: string }) {
  const engines = [...new Set(answers.map(({ engine }) => engine))];
  const data = [...answers].reverse().map((answer) => ({
    at: minuteOf(answer.answeredAt),
    [answer.engine]: rankOf(answer, brand),
  }));
  return (
    <LineChart
      h={220}
      data={data}
      dataKey="at"
      withLegend
      connectNulls
      curveType="linear"
      series={engines.map((engine) => ({ name: engine, label: ENGINES[engine], color: COLOURS[engine] }))}
      yAxisProps={{ reversed: true, allowDecimals: false, domain: [1, 'dataMax'], width: 36 }}
      lineChartProps={{ accessibilityLayer: false }}
    />
  );
}
