import { Select, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.js';
import { useKeywordNames } from '../../api/keywords.js';
import { count, credits } from '../../parts/format.js';
import { SourceName } from '../../parts/source.js';
import { Section } from '../../parts/section.js';
import { Loaded } from '../../parts/states.js';
import { DataTable } from '../../parts/table.js';
import { useAddressParam } from '../../parts/use-address-param.js';

/** The quoted and the charged credits of a keyword. */
export function Quoted() {
  const names = useKeywordNames();
  const [chosen, choose] = useAddressParam('keyword');
  const id = chosen ?? [...names.keys()][0];
  if (!id) return null;
  return (
    <Section
      title="Quoted and charged"
      lead="The credits of the last 30 days. Quoted: the checks of this keyword. Charged: the checks, and the readings, buckets and agent steps of mentions, which are not quoted."
      actions={
        <Select
          size="xs"
          aria-label="Keyword"
          searchable
          allowDeselect={false}
          data={[...names].map(([value, label]) => ({ value, label }))}
          value={id}
          onChange={choose}
        />
      }
    >
      <QuoteOf id={id} />
    </Section>
  );
}

function QuoteOf({ id }: { id: string }) {
  const query = useQuery({
    queryKey: ['/v1/keywords', id, 'quote'],
    queryFn: ({ signal }) => api.get('/v1/keywords/{id}/quote', { path: { id }, signal }),
  });
  return (
    <Loaded query={query}>
      {({ bySource, quotedCredits, chargedCredits, monthlyCredits }) => (
        <>
          <DataTable
            framed={false}
            label="Quoted and charged credits by source"
            head={['Source', 'Quoted', 'Charged', 'Difference']}
            minWidth={480}
          >
            {bySource.map((one) => (
              <Table.Tr key={one.source}>
                <Table.Td>
                  <SourceName source={one.source} />
                </Table.Td>
                <Table.Td>{count(one.quotedCredits)}</Table.Td>
                <Table.Td>{count(one.chargedCredits)}</Table.Td>
                <Table.Td>{differenceOf(one)}</Table.Td>
              </Table.Tr>
            ))}
            <Table.Tr fw={600}>
              <Table.Td>All</Table.Td>
              <Table.Td>{count(quotedCredits)}</Table.Td>
              <Table.Td>{count(chargedCredits)}</Table.Td>
              <Table.Td>{differenceOf({ quotedCredits, chargedCredits })}</Table.Td>
            </Table.Tr>
          </DataTable>
          <Text size="xs" c="dimmed" mt="xs">
            The estimate of a month is {credits(monthlyCredits)}.
          </Text>
        </>
      )}
    </Loaded>
  );
}

/** Returns the difference for people, such as “153 more than quoted”. */
function differenceOf(one: { quotedCredits: number; chargedCredits: number }): string {
  const difference = one.chargedCredits - one.quotedCredits;
  if (difference === 0) return 'as quoted';
  return `${count(Math.abs(difference))} ${difference > 0 ? 'more' : 'less'} than quoted`;
}
