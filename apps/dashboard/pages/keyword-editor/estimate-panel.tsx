import { Alert, Divider, Group, List, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import { count, duration, plural, words } from '../../parts/format.js';
import { Problem } from '../../parts/problem.js';
import { SourceName } from '../../parts/source.js';
import type { useEstimate } from './use-estimate.js';

type Found = ReturnType<typeof useEstimate>;
type Priced = Extract<NonNullable<Found['data']>, { valid: true }>['estimate'];

interface Props {
  estimate: Found;
  /** The keyword that is changed; undefined for a new keyword. */
  stored: { monthlyCredits: number } | undefined;
}

/** Shows the cost of the keyword during editing. */
export function EstimatePanel({ estimate, stored }: Props) {
  const { data, error, isCurrent } = estimate;
  return (
    <Paper
      p="md"
      bg="var(--surface)"
      component="section"
      aria-label="Price"
      aria-live="polite"
      aria-busy={!isCurrent}
    >
      <Title order={2}>Price</Title>
      {error && !data ? (
        <Problem error={error} retry={() => void estimate.refetch()} />
      ) : !data ? (
        <Skeleton height={180} mt="sm" />
      ) : data.valid ? (
        <Stack gap="xs" mt={4} style={{ opacity: isCurrent ? 1 : 0.6 }}>
          <Prices estimate={data.estimate} before={stored?.monthlyCredits} />
          {data.warnings.map(({ path, message }) => (
            <Alert key={path + message} color="yellow" icon={<TriangleAlert size={16} aria-hidden />} p="xs">
              <Text size="xs" className="foreign">
                {path ? `${path}: ${message}` : message}
              </Text>
            </Alert>
          ))}
        </Stack>
      ) : (
        <Refusal message={data.refusal.message} faults={data.refusal.details ?? []} />
      )}
    </Paper>
  );
}

function Refusal({
  message,
  faults,
}: {
  message: string;
  faults: readonly { path: string; message: string }[];
}) {
  return (
    <Stack gap="xs" mt={4}>
      <Text size="sm">The keyword cannot be saved yet:</Text>
      <List size="sm" spacing={4}>
        {faults.length === 0 && <List.Item className="foreign">{message}</List.Item>}
        {faults.slice(0, 8).map((fault) => (
          <List.Item key={fault.path + fault.message} className="foreign">
            {fault.path ? `${fieldOf(fault.path)}: ${fault.message}` : fault.message}
          </List.Item>
        ))}
      </List>
    </Stack>
  );
}

/** Returns the last name of a path, for people. */
const fieldOf = (path: string) =>
  words(
    path
      .replace(/.*\./, '')
      .replace(/\[\d+\]$/, '')
      .replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  );

function Prices({ estimate, before }: { estimate: Priced; before: number | undefined }) {
  const { monthlyCredits, bySource, creditsPerItem, firstScanCredits, searchSlots, creditsRemaining } =
    estimate;
  const perItem = Object.entries({
    'sentiment and intent': creditsPerItem.analysis,
    'a bucket': creditsPerItem.bucket,
    'the agent step': creditsPerItem.agentStep,
  }).filter(([, price]) => price > 0);
  return (
    <>
      <Text fz="1.5rem" fw={650} lh={1.2} className="tabular">
        {count(monthlyCredits)}
        <Text span size="sm" c="dimmed" fw={400}>
          {' '}
          credits a month
        </Text>
      </Text>
      {before !== undefined && before !== monthlyCredits && (
        <Text size="sm" c="dimmed">
          now {count(before)}, {monthlyCredits > before ? '+' : '−'}
          {count(Math.abs(monthlyCredits - before))}
        </Text>
      )}
      {bySource.map(({ source, monthlyCredits: credits, intervalSeconds, searches }) => (
        <Group key={source} justify="space-between" wrap="nowrap" gap="xs">
          <Text size="sm" component="div">
            <SourceName source={source} />
            <Text size="xs" c="dimmed" span>
              {' '}
              every {duration(intervalSeconds)}
              {searches > 1 && `, ${searches} searches`}
            </Text>
          </Text>
          <Text size="sm" className="tabular">
            {count(credits)}
          </Text>
        </Group>
      ))}
      <Divider />
      {perItem.length > 0 && (
        <Text size="xs" c="dimmed">
          For each kept mention: {perItem.map(([name, price]) => `${price} for ${name}`).join(', ')}.
        </Text>
      )}
      {before === undefined && firstScanCredits > 0 && (
        <Text size="xs" c="dimmed">
          First scan: at most {count(firstScanCredits)}.
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {plural(creditsRemaining, 'credit remains', 'credits remain')}.{' '}
        {plural(searchSlots.requested, 'search slot')}
        {searchSlots.limit === null ? '' : `; ${searchSlots.inUse} of ${searchSlots.limit} are in use`}.
      </Text>
    </>
  );
}
