import { Button, Group, NativeSelect, Stack } from '@mantine/core';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client.js';
import { Figure } from '../../parts/figure.js';
import { count, credits, duration, percent } from '../../parts/format.js';
import { Problem } from '../../parts/problem.js';
import { Section } from '../../parts/section.js';
import { SourceName } from '../../parts/source.js';
import { Loaded } from '../../parts/states.js';
import { bodyOfPlan, type Plan } from './plan.js';

const INTERVALS = [60, 300, 600, 1800, 3600, 21_600, 86_400].map((seconds) => ({
  value: String(seconds),
  label: duration(seconds),
}));

interface Props {
  plan: Plan;
  onChange: (plan: Plan) => void;
  onBack: () => void;
  onCreated: (keywordId: string) => void;
}

/** The price and the interval of the keyword, and the button that creates it. */
export default function PriceStep({ plan, onChange, onBack, onCreated }: Props) {
  const body = bodyOfPlan(plan);
  const queries = useQueryClient();
  const estimate = useQuery({
    queryKey: ['/v1/keywords/estimate', JSON.stringify(body)],
    queryFn: ({ signal }) => api.post('/v1/keywords/estimate', { body, signal }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  const create = useMutation({
    mutationFn: (token: string) =>
      api.post('/v1/keywords', { body, headers: { 'service-estimate-token': token } }),
    onSuccess: async ({ id }) => {
      onCreated(id);
      await queries.invalidateQueries({ queryKey: ['/v1/keywords'] });
    },
    // The price can have expired or changed.
    onError: () => void estimate.refetch(),
  });
  const token = estimate.data?.valid && !estimate.isPlaceholderData ? estimate.data.estimateToken : undefined;
  return (
    <Section title="What it costs">
      <Stack>
        <NativeSelect
          label="Look every"
          description="A shorter interval costs more, and finds posts sooner."
          w={220}
          data={INTERVALS}
          value={String(plan.intervalSeconds)}
          onChange={({ currentTarget }) =>
            onChange({ ...plan, intervalSeconds: Number(currentTarget.value) })
          }
        />
        <Loaded query={estimate}>
          {(answer) =>
            answer.valid ? (
              <Price estimate={answer.estimate} />
            ) : (
              <Problem
                error={new Error(answer.refusal.message)}
                title="The keyword cannot be created with these values"
              />
            )
          }
        </Loaded>
        {create.error && <Problem error={create.error} title="The keyword was not created" />}
        <Group justify="space-between">
          <Button variant="default" onClick={onBack}>
            Back
          </Button>
          <Button
            disabled={token === undefined}
            loading={create.isPending}
            onClick={() => token && create.mutate(token)}
          >
            Start listening
          </Button>
        </Group>
      </Stack>
    </Section>
  );
}

interface Estimate {
  monthlyCredits: number;
  firstScanCredits: number;
  creditsRemaining: number;
  planAllowance: number;
  creditsPerItem: { analysis: number };
  bySource: readonly { source: Parameters<typeof SourceName>[0]['source']; monthlyCredits: number }[];
}

function Price({ estimate }: { estimate: Estimate }) {
  const { monthlyCredits, firstScanCredits, creditsRemaining, creditsPerItem, bySource, planAllowance } =
    estimate;
  return (
    <Stack gap="sm">
      <Group grow align="stretch" wrap="wrap" preventGrowOverflow={false}>
        <Figure
          label="Credits a month"
          value={count(monthlyCredits)}
          hint={
            planAllowance > 0
              ? `${percent(monthlyCredits / planAllowance)} of your plan’s ${count(planAllowance)}`
              : undefined
          }
        />
        <Figure label="First scan, once" value={`≤ ${count(firstScanCredits)}`} hint="keeps existing posts" />
        <Figure
          label="Each kept mention"
          value={credits(creditsPerItem.analysis)}
          hint="for sentiment and intent"
        />
        <Figure label="You have" value={count(creditsRemaining)} hint="credits" />
      </Group>
      <Group gap="lg">
        {bySource.map(({ source, monthlyCredits: n }) => (
          <Group key={source} gap={6}>
            <SourceName source={source} />
            <span className="tabular">{count(n)}</span>
          </Group>
        ))}
      </Group>
    </Stack>
  );
}
