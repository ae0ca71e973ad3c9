import { Badge, Button, Group, Progress, Select, Stack, Table, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { History } from 'lucide-react';
import type { RowOf } from '../../../../clients/typescript/src/index.js';
import { api } from '../../api/client.js';
import { useKeywordName, useKeywordNames } from '../../api/keywords.js';
import { queries } from '../../api/queries.js';
import { useCanEdit } from '../../api/session.js';
import { usePages } from '../../api/use-pages.js';
import { showFaults } from '../../parts/faults.js';
import { count, minuteOf, words } from '../../parts/format.js';
import { notify, notifyFailure } from '../../parts/notify.js';
import { Problem } from '../../parts/problem.js';
import { Section } from '../../parts/section.js';
import { Empty, Loaded } from '../../parts/states.js';
import { DataTable, More } from '../../parts/table.js';
import { Time } from '../../parts/time.js';

type Replay = RowOf<'/v1/replays'>;
const COLOURS = { queued: 'gray', running: 'blue', done: 'teal', failed: 'red', cancelled: 'gray' } as const;
const isOpen = ({ status }: Pick<Replay, 'status'>) => status === 'queued' || status === 'running';

/** Stored events that are sent again, with their progress. */
export function Replays() {
  const query = usePages(
    ['/v1/replays'],
    (page, signal) => api.get('/v1/replays', { query: page, signal }),
    // While a replay is open, its progress is read every second.
    { refetchInterval: (rows) => (rows.some(isOpen) ? 1000 : 30_000) },
  );
  return (
    <Stack>
      {useCanEdit() && <NewReplay />}
      <Loaded query={query}>
        {(rows) => {
          if (rows.length === 0)
            return (
              <Empty icon={History} title="No replays">
                A replay sends the events of a period again, with the same bytes and ids and a new signature.
                Replays are free.
              </Empty>
            );
          return (
            <>
              <DataTable
                label="Replays"
                head={['Created', 'Keyword', 'Window', 'Progress', 'State', '']}
                minWidth={820}
              >
                {rows.map((row) => (
                  <ReplayRow key={row.id} row={row} />
                ))}
              </DataTable>
              <More query={query} />
            </>
          );
        }}
      </Loaded>
    </Stack>
  );
}

function NewReplay() {
  const names = useKeywordNames();
  const form = useForm({ initialValues: { keyword: '', since: '', until: '', url: '' } });
  const create = useMutation({
    mutationFn: ({ keyword, since, until, url }: typeof form.values) =>
      api.post('/v1/replays', {
        body: {
          keyword_id: keyword,
          since: since ? new Date(since).toISOString() : '',
          ...(until ? { until: new Date(until).toISOString() } : {}),
          ...(url ? { url } : {}),
        },
      }),
    onSuccess: async () => {
      notify('The replay begins');
      await queries.invalidateQueries({ queryKey: ['/v1/replays'] });
    },
    onError: (error) => showFaults(form, error, (path) => (path.startsWith('keyword') ? 'keyword' : path)),
  });
  return (
    <Section title="Send the events of a period again">
      <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
        <Group align="flex-start" gap="sm">
          <Select
            label="Keyword"
            searchable
            required
            data={[...names].map(([value, label]) => ({ value, label }))}
            {...form.getInputProps('keyword')}
          />
          <TextInput label="From" type="datetime-local" required {...form.getInputProps('since')} />
          <TextInput
            label="Until"
            type="datetime-local"
            description="Empty: now"
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            {...form.getInputProps('until')}
          />
          <TextInput
            label="Address"
            type="url"
            flex={1}
            miw={220}
            placeholder="The keyword’s webhook"
            {...form.getInputProps('url')}
          />
        </Group>
        {create.error && (
          <Stack mt="sm">
            <Problem
              error={create.error}
              title="The replay was not started"
              shownPaths={['since', 'until', 'url', 'keyword_id']}
            />
          </Stack>
        )}
        <Button
          type="submit"
          mt="md"
          loading={create.isPending}
          leftSection={<History size={16} aria-hidden />}
        >
          Start the replay
        </Button>
      </form>
    </Section>
  );
}

function ReplayRow({ row }: { row: Replay }) {
  const nameOf = useKeywordName();
  const canEdit = useCanEdit();
  const cancel = useMutation({
    mutationFn: () => api.delete('/v1/replays/{id}', { path: { id: row.id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['/v1/replays'] }),
    onError: (error) => notifyFailure('The replay was not cancelled', error),
  });
  const done =
    row.matched === 0 ? (row.status === 'done' ? 100 : 0) : (100 * (row.sent + row.failed)) / row.matched;
  return (
    <Table.Tr>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        <Time at={row.createdAt} />
      </Table.Td>
      <Table.Td className="foreign">{row.keywordId ? nameOf(row.keywordId) : 'A watch'}</Table.Td>
      <Table.Td>
        {minuteOf(row.since)} – {minuteOf(row.until)}
      </Table.Td>
      <Table.Td miw={180}>
        <Progress value={done} aria-label={`${Math.round(done)}% sent`} />
        <Text size="xs" c="dimmed" mt={4}>
          {count(row.sent)} of {count(row.matched)} sent{row.failed > 0 && `, ${count(row.failed)} failed`}
        </Text>
      </Table.Td>
      <Table.Td>
        <Badge color={COLOURS[row.status]}>{words(row.status)}</Badge>
        {row.message && (
          <Text size="xs" c="dimmed" className="foreign">
            {row.message}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        {canEdit && isOpen(row) && (
          <Button
            size="compact-xs"
            variant="default"
            loading={cancel.isPending}
            onClick={() => cancel.mutate()}
          >
            Cancel
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
