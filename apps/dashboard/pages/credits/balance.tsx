import { Badge, Paper, Progress, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { api } from '../../api/client.js';
import { count, credits, dayOf, percent, plural, short, words } from '../../parts/format.js';
import { Figure } from '../../parts/figure.js';
import { Loaded, LoadingRows } from '../../parts/states.js';
import { burnDown } from './burn-down.js';

const Chart = lazy(async () => ({ default: (await import('./burn-down-chart.js')).Component }));

/** Shows the balance, the used credits, and how long the remaining credits last. */
export function Balance() {
  const query = useQuery({
    queryKey: ['/v1/credits', 'burn-down'],
    queryFn: async ({ signal }) => {
      const balance = await api.get('/v1/credits', { signal });
      const since = balance.periodStart;
      const { data } = await api.get('/v1/credits/usage', { query: { since }, signal });
      return { balance, usage: data };
    },
    refetchInterval: 60_000,
  });
  return (
    <Loaded query={query} loading={<LoadingRows rows={2} height={150} />}>
      {({ balance, usage }) => {
        const { days, perDay, usedUpAt } = burnDown(
          usage,
          { ...balance, remaining: balance.creditsRemaining },
          Date.now(),
        );
        const used = balance.monthlyAllowance - balance.allowanceRemaining;
        const part = balance.monthlyAllowance === 0 ? 0 : used / balance.monthlyAllowance;
        return (
          <Stack>
            <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
              <Figure
                label="Remaining"
                value={short(balance.creditsRemaining)}
                hint={
                  balance.creditsReserved > 0
                    ? `${credits(balance.creditsReserved)} reserved for running work`
                    : 'Allowance and packs'
                }
              />
              <Figure
                label="Used this period"
                value={short(balance.usedThisPeriod)}
                hint={`recently ${short(Math.round(perDay))} a day on average`}
              />
              <Figure
                label="Allowance"
                value={
                  <>
                    {short(balance.monthlyAllowance)} <Badge variant="light">{words(balance.plan)}</Badge>
                  </>
                }
                hint={
                  <>
                    {percent(part)} used, renewed on {dayOf(balance.periodEnd)}
                    <Progress
                      value={Math.round(part * 10_000) / 100}
                      size="sm"
                      mt={6}
                      aria-label={`${percent(part)} of the allowance used`}
                    />
                  </>
                }
              />
              <Figure
                label="Forecast"
                value={usedUpAt ? dayOf(usedUpAt) : 'Enough'}
                hint={
                  usedUpAt
                    ? 'The credits are used up on this day at this pace. Keywords pause then.'
                    : `The credits last until the renewal on ${dayOf(balance.periodEnd)}`
                }
              />
            </SimpleGrid>
            <Paper p="md" bg="var(--surface)">
              <Text size="sm" c="dimmed" mb="sm">
                {`The period began on ${dayOf(balance.periodStart)}. ${plural(balance.creditsRemaining, 'credit remains', 'credits remain')} today.`}
              </Text>
              <Suspense fallback={<Skeleton h={260} />}>
                <Chart days={days} />
              </Suspense>
            </Paper>
            {balance.packs.length > 0 && (
              <Text size="sm">
                Packs:{' '}
                {balance.packs
                  .map(
                    ({ remaining, granted, expiresAt }) =>
                      `${count(remaining)} of ${credits(granted)}, ${expiresAt ? `until ${dayOf(expiresAt)}` : 'without expiry'}`,
                  )
                  .join('; ')}
              </Text>
            )}
          </Stack>
        );
      }}
    </Loaded>
  );
}
