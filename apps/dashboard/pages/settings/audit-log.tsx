import { Badge, Code, Table, Text } from '@mantine/core';
import { ScrollText } from 'lucide-react';
import { api } from '../../api/client.js';
import { usePages } from '../../api/use-pages.js';
import { Section } from '../../parts/section.js';
import { Empty, Loaded } from '../../parts/states.js';
import { DataTable, More } from '../../parts/table.js';
import { Time } from '../../parts/time.js';

/** What members and keys changed. */
export function AuditLog() {
  const log = usePages(['/v1/audit-log'], (page, signal) =>
    api.get('/v1/audit-log', { query: page, signal }),
  );
  return (
    <Section
      title="Audit log"
      lead="Every change by a member or a key in the last 365 days, the newest first. Values are not recorded."
    >
      <Loaded query={log}>
        {(entries) =>
          entries.length === 0 ? (
            <Empty icon={ScrollText} title="Nothing was changed yet" />
          ) : (
            <DataTable label="Audit log" head={['When', 'Who', 'What', 'Keys', 'Outcome']} framed={false}>
              {entries.map(({ id, at, by, method, path, bodyKeys, status, requestId, networkAddress }) => (
                <Table.Tr key={id}>
                  <Table.Td>
                    <Time at={at} />
                  </Table.Td>
                  <Table.Td className="foreign">
                    {by.name ?? by.id}
                    <Text size="xs" c="dimmed">
                      {by.kind}, {networkAddress}
                    </Text>
                  </Table.Td>
                  <Table.Td>
                    <Code className="foreign">
                      {method} {path}
                    </Code>
                    <Text size="xs" c="dimmed">
                      {requestId}
                    </Text>
                  </Table.Td>
                  <Table.Td className="foreign">{bodyKeys.join(', ')}</Table.Td>
                  <Table.Td>
                    <Outcome status={status} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </DataTable>
          )
        }
      </Loaded>
      <More query={log} />
    </Section>
  );
}

function Outcome({ status }: { status: number | null }) {
  if (status === null) return <Badge color="yellow">Unknown</Badge>;
  return <Badge color={status < 400 ? 'teal' : 'red'}>{status}</Badge>;
}
