import { Badge, Button, Group, Stack, Table, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Tag } from 'lucide-react';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { api } from '../../api/client.js';
import { minuteOf, money, plural, words } from '../../parts/format.js';
import { Section } from '../../parts/section.js';
import { Empty, Loaded } from '../../parts/states.js';
import { DataTable } from '../../parts/table.js';
import { Time } from '../../parts/time.js';

/** The observed prices of one listing. */
export function PriceHistory() {
  const [params, setParams] = useSearchParams();
  const item = params.get('item') ?? '';
  const [typed, setTyped] = useState(item);
  return (
    <Stack>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setParams({ tab: 'item', item: idOf(typed) }, { replace: true });
        }}
      >
        <Group align="flex-end">
          <TextInput
            flex={1}
            maw={460}
            label="Item"
            description="The id or the address of a listing"
            placeholder="https://www.vinted.fr/items/1234567890-…"
            value={typed}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          <Button type="submit" disabled={idOf(typed) === ''}>
            Show prices
          </Button>
        </Group>
      </form>
      {item === '' ? (
        <Empty icon={Tag} title="Choose an item">
          Open a listing in the feed and copy its address, or enter its number.
        </Empty>
      ) : (
        <History id={item} />
      )}
    </Stack>
  );
}

/** Returns the id in the address of a listing: `123` for `https://www.vinted.fr/items/123-coat`. */
const idOf = (text: string) => /(?:items\/)?(\d+)/.exec(text.trim())?.[1] ?? '';

function History({ id }: { id: string }) {
  const query = useQuery({
    queryKey: ['/v1/vinted/items', id],
    queryFn: ({ signal }) =>
      api.get('/v1/vinted/items/{id}/price-history', { path: { id }, query: { limit: 1000 }, signal }),
  });
  return (
    <Loaded query={query}>
      {({ points, status, currency, firstSeenAt, summary }) => {
        const price = (value: number | null) => (value === null ? '–' : money(value, currency ?? ''));
        return (
          <Section
            title={`Item ${id}`}
            lead={
              <>
                <Badge mr="xs" color={status === 'listed' ? 'teal' : 'gray'}>
                  {words(status)}
                </Badge>
                First seen <Time at={firstSeenAt} />; {price(summary.first)} at first, {price(summary.last)}{' '}
                now, {plural(summary.changes, 'change')}.
              </>
            }
          >
            <DataTable
              framed={false}
              label="Price steps"
              head={['Time', 'Price', 'Before', 'Event']}
              minWidth={420}
            >
              {[...points].reverse().map((point) => (
                <Table.Tr key={`${point.at} ${point.price}`}>
                  <Table.Td>{minuteOf(point.at)}</Table.Td>
                  <Table.Td>{price(point.price)}</Table.Td>
                  <Table.Td>{price(point.previousPrice)}</Table.Td>
                  <Table.Td>
                    {point.event ? words(point.event.replace('listing.', '')) : 'First seen'}
                  </Table.Td>
                </Table.Tr>
              ))}
            </DataTable>
          </Section>
        );
      }}
    </Loaded>
  );
}
