import {
  Alert,
  Button,
  Group,
  SegmentedControl,
  SimpleGrid,
  Skeleton,
  Stack,
  Table,
  Text,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { FlaskConical } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import type { AnswerOf, components } from '../../../../clients/typescript/src/index.js';
import { patientApi } from '../../api/client.js';
import { Figure } from '../../parts/figure.js';
import { count, dayOf, words } from '../../parts/format.js';
import { Problem } from '../../parts/problem.js';
import { shownPathsOf } from '../../parts/rules/rule-faults.js';
import { Section } from '../../parts/section.js';
import { DataTable } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { BacktestItems } from './backtest-items.js';

type Schemas = components['schemas'];
type Backtest = AnswerOf<'post', '/v1/keywords/{id}/backtest'>;
const Chart = lazy(async () => ({ default: (await import('./backtest-chart.js')).Component }));
const DAYS = ['7', '30', '90'] as const;

interface Props {
  keywordId: string;
  /** The rules of the form, saved or not. */
  draft: () => { rules: Schemas['Rule'][]; spikeAlert: Schemas['BacktestBody']['spikeAlert'] };
  /** Marks missing values in the form. Returns whether the form is complete. */
  isComplete: () => boolean;
  onError: (error: unknown) => void;
}

/** Shows what the rules of the form would have done. The rules are not saved. */
export function Backtest({ keywordId, draft, isComplete, onError }: Props) {
  const [days, setDays] = useState<string>('30');
  const run = useMutation({
    mutationFn: async () => {
      const since = new Date(Date.now() - Number(days) * 86_400_000).toISOString();
      const tested = draft();
      const backtest = await patientApi.post('/v1/keywords/{id}/backtest', {
        path: { id: keywordId },
        body: { ...tested, since } as never,
      });
      return { backtest, names: namesOf(tested.rules, backtest) };
    },
    onError,
  });
  return (
    <Section
      title="Backtest"
      lead="Applies the rules above to the stored mentions, with the same code as for new mentions. A backtest is free and changes nothing."
      actions={
        <Group gap="xs">
          <SegmentedControl
            size="xs"
            aria-label="Days"
            data={DAYS.map((value) => ({ value, label: `${value} days` }))}
            value={days}
            onChange={setDays}
          />
          <Button
            size="xs"
            leftSection={<FlaskConical size={14} aria-hidden />}
            loading={run.isPending}
            onClick={() => isComplete() && run.mutate()}
          >
            Run the backtest
          </Button>
        </Group>
      }
    >
      {Boolean(run.error) && (
        <Problem error={run.error} title="The backtest was refused" shownPaths={shownPathsOf(run.error)} />
      )}
      {run.data && <Outcome keywordId={keywordId} {...run.data} />}
      {!run.data && !run.error && (
        <Text size="sm" c="dimmed">
          Run the backtest before you save. It shows how often each rule would have fired, and where that
          differs from the stored results.
        </Text>
      )}
    </Section>
  );
}

/** Returns the names of the rules of the form by id, also of disabled rules. The backtest has the ids of new rules. */
function namesOf(rules: readonly Schemas['Rule'][], { byRule }: Backtest): Map<string, string> {
  return new Map([
    ...rules.flatMap(({ id, name }): [string, string][] => (id === undefined ? [] : [[id, name]])),
    ...byRule.map(({ ruleId, name }): [string, string] => [ruleId, name]),
  ]);
}

interface OutcomeProps {
  keywordId: string;
  backtest: Backtest;
  /** The names of the rules, by id. */
  names: ReadonlyMap<string, string>;
}

function Outcome({ keywordId, backtest, names }: OutcomeProps) {
  const { items, added, removed, byRule, dropped, alerts, window } = backtest;
  // The count of a rule about volume or sentiment is a number of alerts, not of mentions.
  const isOfAlerts = (id: string) => alerts.some(({ ruleId }) => ruleId === id);
  return (
    <Stack>
      <SimpleGrid cols={{ base: 2, md: 4 }}>
        <Figure
          label="Mentions"
          value={count(items)}
          hint={[
            `${dayOf(window.from)} to ${dayOf(window.to)}`,
            ...dropped.map(({ reason, count: n }) => `${count(n)} dropped: ${words(reason).toLowerCase()}`),
          ].join(', ')}
        />
        <Figure label="Would fire in addition" value={count(added)} hint="pairs of rule and mention" />
        <Figure label="Would not fire any more" value={count(removed)} hint="pairs of rule and mention" />
        <Figure label="Alerts" value={count(alerts.length)} hint="of alert rules and the spike alert" />
      </SimpleGrid>
      {byRule.some(({ fired }) => fired > 0) ? (
        <Suspense fallback={<Skeleton h={220} />}>
          <Chart byRule={byRule} />
        </Suspense>
      ) : (
        <Alert color="yellow" title="No rule would have fired" />
      )}
      <DataTable
        framed={false}
        label="How often each rule would have fired"
        head={['Rule', 'Fired', 'Days']}
        minWidth={360}
      >
        {byRule.map(({ ruleId, name, fired, perDay }) => (
          <Table.Tr key={ruleId}>
            <Table.Td className="foreign">{name}</Table.Td>
            <Table.Td>{count(fired)}</Table.Td>
            <Table.Td>{count(perDay.length)}</Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
      {alerts.length > 0 && (
        <DataTable
          framed={false}
          label="Alerts that would have fired"
          head={['Time', 'Alert', 'Observed', 'Usual']}
          minWidth={420}
        >
          {alerts.map(({ at, kind, name, observed, baseline }) => (
            <Table.Tr key={`${at} ${kind} ${name ?? ''}`}>
              <Table.Td>
                <Time at={at} />
              </Table.Td>
              <Table.Td className="foreign">{name ?? words(kind)}</Table.Td>
              <Table.Td>{count(observed)}</Table.Td>
              <Table.Td>{baseline.toFixed(1)}</Table.Td>
            </Table.Tr>
          ))}
        </DataTable>
      )}
      <BacktestItems
        keywordId={keywordId}
        backtestId={backtest.id}
        anyFired={added + removed > 0 || byRule.some(({ ruleId, fired }) => fired > 0 && !isOfAlerts(ruleId))}
        names={names}
      />
    </Stack>
  );
}
