import { Badge, Group, Select, Table, Text } from '@mantine/core';
import { ReceiptText } from 'lucide-react';
import { api } from '../../api/client.js';
import { useKeywordName } from '../../api/keywords.js';
import type { RowOf } from '../../../../clients/typescript/src/index.js';
import type { Source } from '../../api/types.js';
import { count, words } from '../../parts/format.js';
import { sourceName, SourceName } from '../../parts/source.js';
import { SOURCES } from '../../api/values.js';
import { usePages } from '../../api/use-pages.js';
import { Section } from '../../parts/section.js';
import { Empty, Loaded } from '../../parts/states.js';
import { DataTable, More } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { useAddressParam } from '../../parts/use-address-param.js';

const KINDS = ['charge', 'grant', 'pack_expiry', 'renewal', 'allowance_change'] as const;

/** Every movement of credits, newest first. */
export function Ledger() {
  const [givenKind, setKind] = useAddressParam('kind');
  const [givenSource, setSource] = useAddressParam('source');
  const kind = KINDS.find((one) => one === givenKind);
  const source = SOURCES.find((one) => one === givenSource);
  const filters = { ...(kind && { kind: [kind] }), ...(source && { source: [source] }) };
  const query = usePages(['/v1/credits/ledger', kind, source], (page, signal) =>
    api.get('/v1/credits/ledger', { query: { ...filters, ...page }, signal }),
  );
  return (
    <Section
      title="Ledger"
      actions={
        <Group gap="xs">
          <Select
            size="xs"
            aria-label="Kind"
            placeholder="Every kind"
            clearable
            w={150}
            data={KINDS.map((value) => ({ value, label: words(value) }))}
            value={kind ?? null}
            onChange={setKind}
          />
          <Select
            size="xs"
            aria-label="Source"
            placeholder="Every source"
            clearable
            w={160}
            data={SOURCES.map((value) => ({ value, label: sourceName(value) }))}
            value={source ?? null}
            onChange={setSource}
          />
        </Group>
      }
    >
      <Loaded query={query}>
        {(rows) => {
          return rows.length === 0 ? (
            <Empty icon={ReceiptText} title="No movements">
              Nothing fits these filters.
            </Empty>
          ) : (
            <>
              <DataTable
                framed={false}
                label="Movements of credits"
                head={['Time', 'What', 'Source', 'Keyword', 'Amount', 'Balance after']}
                minWidth={760}
              >
                {rows.map((row) => (
                  <Movement key={row.id} row={row} />
                ))}
              </DataTable>
              <More query={query} />
            </>
          );
        }}
      </Loaded>
    </Section>
  );
}

function Movement({ row }: { row: RowOf<'/v1/credits/ledger'> }) {
  const nameOf = useKeywordName();
  return (
    <Table.Tr>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        <Time at={row.at} />
      </Table.Td>
      <Table.Td>
        <Badge color={row.amount < 0 ? 'gray' : 'teal'}>{words(row.operation ?? row.kind)}</Badge>
      </Table.Td>
      <Table.Td>{row.source ? <SourceName source={row.source as Source} /> : '–'}</Table.Td>
      <Table.Td className="foreign">{row.keywordId ? nameOf(row.keywordId) : '–'}</Table.Td>
      <Table.Td>
        <Text size="sm" fw={600}>
          {row.amount > 0 ? `+${count(row.amount)}` : count(row.amount)}
        </Text>
      </Table.Td>
      <Table.Td>{count(row.balanceAfter)}</Table.Td>
    </Table.Tr>
  );
}
