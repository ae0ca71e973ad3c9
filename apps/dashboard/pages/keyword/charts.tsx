import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { Group, Progress, Stack, Text } from '@mantine/core';
import type { Source } from '../../api/types.js';
import { count, percent, shortDay, words } from '../../parts/format.js';
import { sentimentColour } from '../../parts/readings.js';
import { sourceColour, sourceName } from '../../parts/source.js';
import type { Series } from './use-series.js';

/** Volume by day and source, and the shares of the sentiments. */
export default function Charts({
  bySource,
  bySentiment,
}: {
  bySource: Series;
  bySentiment: Series | undefined;
}) {
  const data = bySource.days.map(({ date, counts }) => ({ day: shortDay(date), ...counts }));
  const series = bySource.groups.map((name) => ({
    name,
    label: sourceName(name as Source),
    color: sourceColour(name as Source),
  }));
  return (
    <Stack gap="lg">
      <figure style={{ margin: 0 }}>
        <BarChart
          h={260}
          data={data}
          dataKey="day"
          type="stacked"
          series={series}
          withLegend
          legendProps={{ verticalAlign: 'bottom' }}
          tickLine="none"
          gridAxis="x"
          valueFormatter={count}
          barProps={{ isAnimationActive: false }}
        />
        <figcaption>
          <Text size="sm" c="dimmed">
            {bySource.groups
              .map((name) => `${sourceName(name as Source)} ${count(bySource.totals.get(name) ?? 0)}`)
              .join(' · ')}
          </Text>
        </figcaption>
      </figure>
      {bySentiment && <Sentiments series={bySentiment} />}
    </Stack>
  );
}

function Sentiments({ series }: { series: Series }) {
  const read = series.groups.filter((name) => name !== '');
  const total = read.reduce((sum, name) => sum + (series.totals.get(name) ?? 0), 0);
  if (total === 0) return null;
  const shares = read.map((name) => ({ name, share: (series.totals.get(name) ?? 0) / total }));
  return (
    <div>
      <Text size="sm" fw={600} mb={6}>
        Sentiment
      </Text>
      <Progress.Root size={18} radius="sm" aria-hidden>
        {shares.map(({ name, share }) => (
          <Progress.Section key={name} value={share * 100} color={sentimentColour(name)} />
        ))}
      </Progress.Root>
      <Group gap="md" mt={6}>
        {shares.map(({ name, share }) => (
          <Text key={name} size="sm">
            {words(name)} {percent(share)}
          </Text>
        ))}
      </Group>
    </div>
  );
}
