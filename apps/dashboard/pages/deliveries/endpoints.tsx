import { Badge, Button, Group, Table, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { PlugZap } from 'lucide-react';
import type { RowOf } from '../../../../clients/typescript/src/index.js';
import { api } from '../../api/client.js';
import { queries } from '../../api/queries.js';
import { useCanEdit } from '../../api/session.js';
import { usePages } from '../../api/use-pages.js';
import { count, plural, words } from '../../parts/format.js';
import { notify, notifyFailure } from '../../parts/notify.js';
import { Empty, Loaded } from '../../parts/states.js';
import { DataTable, More } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { TestWebhook } from './test-webhook.js';

type Endpoint = RowOf<'/v1/endpoints'>;
const COLOURS = { healthy: 'teal', failing: 'yellow', disabled: 'red' } as const;

/** The webhook addresses of the account, and their state. */
export function Endpoints() {
  const query = usePages(
    ['/v1/endpoints'],
    (page, signal) => api.get('/v1/endpoints', { query: page, signal }),
    { refetchInterval: () => 15_000 },
  );
  return (
    <>
      <TestWebhook />
      <Loaded query={query}>
        {(rows) => {
          if (rows.length === 0)
            return (
              <Empty icon={PlugZap} title="No endpoints">
                The webhook addresses of your keywords and watches appear here.
              </Empty>
            );
          return (
            <>
              <DataTable
                label="Endpoints"
                head={['Address', 'State', 'Last status', 'Waiting', '']}
                minWidth={720}
              >
                {rows.map((row) => (
                  <EndpointRow key={row.url} row={row} />
                ))}
              </DataTable>
              <More query={query} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

function EndpointRow({ row }: { row: Endpoint }) {
  const canEdit = useCanEdit();
  const enable = useMutation({
    mutationFn: () => api.post('/v1/endpoints/enable', { body: { url: row.url } }),
    onSuccess: async () => {
      notify('The endpoint is enabled again');
      await queries.invalidateQueries({ queryKey: ['/v1/endpoints'] });
    },
    onError: (error) => notifyFailure('The endpoint was not enabled', error),
  });
  return (
    <Table.Tr>
      <Table.Td maw={380}>
        <Text size="sm" className="foreign">
          {row.url}
        </Text>
        <Text size="xs" c="dimmed" className="foreign">
          {row.disabledReason ??
            `${plural(row.keywordIds.length, 'keyword')}, ${plural(row.watchIds.length, 'watch', 'watches')}`}
        </Text>
      </Table.Td>
      <Table.Td>
        <Badge color={COLOURS[row.state]}>{words(row.state)}</Badge>
        {row.failingSince && (
          <Text size="xs" c="dimmed" component="div">
            since <Time at={row.failingSince} />, {plural(row.failures, 'failure')}
          </Text>
        )}
      </Table.Td>
      <Table.Td>{row.lastStatusCode ?? '–'}</Table.Td>
      <Table.Td>{count(row.waiting)}</Table.Td>
      <Table.Td>
        {canEdit && row.state === 'disabled' && (
          <Group justify="flex-end">
            <Button size="compact-sm" loading={enable.isPending} onClick={() => enable.mutate()}>
              Enable
            </Button>
          </Group>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
