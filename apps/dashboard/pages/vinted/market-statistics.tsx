import { Select, Skeleton, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ShoppingBag } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { useSearchParams } from 'react-router';
import { api } from '../../api/client.js';
import { count, dayOf, money } from '../../parts/format.js';
import { Section } from '../../parts/section.js';
import { Empty, Loaded } from '../../parts/states.js';
import { DataTable } from '../../parts/table.js';
import type { MarketDay } from './market-day.js';

const Chart = lazy(async () => ({ default: (await import('./market-chart.js')).Component }));

/** The market of a keyword's searches, day by day. */
export function MarketStatistics() {
  const [params, setParams] = useSearchParams();
  const keywords = useQuery({
    queryKey: ['/v1/keywords', 'vinted'],
    queryFn: async ({ signal }) => {
      const found: { id: string; name: string }[] = [];
      for await (const { id, name } of api.paginate('/v1/keywords', {
        query: { source: ['vinted'], limit: 100 },
        signal,
      }))
        found.push({ id, name });
      return found;
    },
  });
  const id = params.get('keyword') ?? keywords.data?.[0]?.id;
  return (
    <Loaded query={keywords}>
      {(found) =>
        found.length === 0 || !id ? (
          <Empty icon={ShoppingBag} title="No keyword searches Vinted">
            Add the source “Vinted” to a keyword. The statistics are computed from the listings that its
            searches find. The source is off until the operator sets SOURCE_VINTED_ENABLED=true.
          </Empty>
        ) : (
          <Section
            title="Prices by day"
            lead="The last 30 days in UTC. A listing counts once a day, with its last price."
            actions={
              <Select
                size="xs"
                aria-label="Keyword"
                allowDeselect={false}
                data={found.map((one) => ({ value: one.id, label: one.name }))}
                value={id}
                onChange={(keyword) => keyword && setParams({ keyword }, { replace: true })}
              />
            }
          >
            <Days id={id} />
          </Section>
        )
      }
    </Loaded>
  );
}

function Days({ id }: { id: string }) {
  const query = useQuery({
    queryKey: ['/v1/vinted/market-stats', id],
    queryFn: ({ signal }) => api.get('/v1/vinted/market-stats', { query: { keyword_id: id }, signal }),
  });
  return (
    <Loaded query={query}>
      {({ data }) => {
        if (data.length === 0)
          return (
            <Empty icon={ShoppingBag} title="No listings observed yet">
              The first check of the search counts what is listed now.
            </Empty>
          );
        const nameOf = ({ market, currency }: MarketDay) => `Market ${market}, prices in ${currency}`;
        return (
          <Stack>
            {[...new Set(data.map(nameOf))].map((name) => (
              <OneMarket key={name} name={name} days={data.filter((day) => nameOf(day) === name)} />
            ))}
          </Stack>
        );
      }}
    </Loaded>
  );
}

/** Shows the days of one market in one currency. */
function OneMarket({ name, days }: { name: string; days: readonly MarketDay[] }) {
  const currency = days[0]?.currency ?? '';
  const price = (value: number | null) => (value === null ? '–' : money(value, currency));
  return (
    <div>
      <Title order={3} mb="xs" className="foreign">
        {name}
      </Title>
      {days.every((day) => day.insufficientData) ? (
        <Text size="sm" c="dimmed" mb="md">
          No chart yet, because no day has enough listings for a median.
        </Text>
      ) : (
        <Suspense fallback={<Skeleton h={240} />}>
          <Chart days={days} currency={currency} />
        </Suspense>
      )}
      <DataTable
        framed={false}
        label={`${name}, by day`}
        head={['Day', 'Listings (n)', 'Median', 'Middle half', 'New', 'Gone', 'Price changes']}
        minWidth={680}
      >
        {[...days].reverse().map((day) => (
          <Table.Tr key={day.date}>
            <Table.Td>{dayOf(day.date)}</Table.Td>
            <Table.Td>{count(day.n)}</Table.Td>
            <Table.Td>
              {day.insufficientData ? (
                <Text size="sm" c="dimmed">
                  too few listings
                </Text>
              ) : (
                price(day.median)
              )}
            </Table.Td>
            <Table.Td>{day.insufficientData ? '–' : `${price(day.p25)} – ${price(day.p75)}`}</Table.Td>
            <Table.Td>{count(day.newListings)}</Table.Td>
            <Table.Td>{count(day.delisted)}</Table.Td>
            <Table.Td>{count(day.priceChanges)}</Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
    </div>
  );
}
