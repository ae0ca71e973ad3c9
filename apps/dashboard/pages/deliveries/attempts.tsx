import { ActionIcon, Badge, Button, Group, Select, Table, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { ChevronDown, ChevronRight, RotateCw, Send } from 'lucide-react';
import { Fragment, useState } from 'react';
import type { RowOf } from '../../../../clients/typescript/src/index.js';
import { channelIdOf, targetName, useChannels, type Channels } from '../../api/channels.js';
import { api } from '../../api/client.js';
import { useKeywordNames } from '../../api/keywords.js';
import { queries } from '../../api/queries.js';
import { useCanEdit } from '../../api/session.js';
import { usePages } from '../../api/use-pages.js';
import { CHANNEL_KINDS } from '../../parts/channel-kind.js';
import { count, words } from '../../parts/format.js';
import { notify, notifyFailure } from '../../parts/notify.js';
import { Empty, Loaded } from '../../parts/states.js';
import { DataTable, More } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { useAddressParam } from '../../parts/use-address-param.js';
import { EventDetail } from './event-detail.js';

type Delivery = RowOf<'/v1/deliveries'>;
const STATES = ['delivered', 'retrying', 'given_up'] as const;
const COLOURS = { delivered: 'teal', retrying: 'yellow', given_up: 'red' } as const;

/** The deliveries of the last seven days by event and target, newest first, each with all attempts. */
export function Attempts() {
  const names = useKeywordNames();
  const channels = useChannels();
  const [givenState, setState] = useAddressParam('state');
  const [keyword, setKeyword] = useAddressParam('keyword');
  const state = STATES.find((one) => one === givenState);
  const filters = { ...(state && { state }), ...(keyword && { keyword }) };
  const query = usePages(
    ['/v1/deliveries', state, keyword],
    (page, signal) => api.get('/v1/deliveries', { query: { ...filters, ...page }, signal }),
    { refetchInterval: () => 15_000 },
  );
  return (
    <>
      <Group mb="sm" gap="xs">
        <Select
          size="xs"
          aria-label="State"
          placeholder="Every state"
          clearable
          data={STATES.map((value) => ({ value, label: words(value) }))}
          value={state ?? null}
          onChange={setState}
        />
        <Select
          size="xs"
          aria-label="Keyword"
          placeholder="Every keyword"
          clearable
          searchable
          data={[...names].map(([value, label]) => ({ value, label }))}
          value={keyword}
          onChange={setKeyword}
        />
      </Group>
      <Loaded query={query}>
        {(rows) => {
          if (rows.length === 0)
            return state || keyword ? (
              <Empty icon={Send} title="No delivery with this state and keyword" />
            ) : (
              <Empty icon={Send} title="Nothing was sent in the last seven days">
                Give a keyword a webhook address or a channel, and its next mention is sent there.
              </Empty>
            );
          return (
            <>
              <DataTable
                label="Deliveries"
                head={['', 'Last attempt', 'To', 'Keyword', 'Response', 'Attempts', 'State', '']}
                minWidth={900}
              >
                {rows.map((row) => (
                  <DeliveryRow
                    key={`${row.eventId} ${row.endpoint} ${row.target.id}`}
                    {...{ row, channels }}
                    name={row.keywordId ? names.get(row.keywordId) : undefined}
                  />
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

interface RowProps {
  row: Delivery;
  /** The name of the keyword. */
  name: string | undefined;
  channels: Channels;
}

function DeliveryRow({ row, name, channels }: RowProps) {
  const [isOpen, setOpen] = useState(false);
  const canEdit = useCanEdit();
  const resend = useMutation({
    mutationFn: () =>
      api.post('/v1/deliveries/{eventId}/resend', { path: { eventId: row.eventId }, body: {} }),
    onSuccess: async () => {
      notify('The event is sent again');
      await queries.invalidateQueries({ queryKey: ['/v1/deliveries'] });
    },
    onError: (error) => notifyFailure('The event was not sent again', error),
  });
  const last = row.attempts.at(-1);
  const channel = channels?.get(channelIdOf(row.endpoint) ?? '');
  return (
    <Fragment>
      <Table.Tr>
        <Table.Td w={40}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-expanded={isOpen}
            aria-label={isOpen ? 'Hide the attempts' : 'Show the attempts'}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? <ChevronDown size={16} aria-hidden /> : <ChevronRight size={16} aria-hidden />}
          </ActionIcon>
        </Table.Td>
        <Table.Td style={{ whiteSpace: 'nowrap' }}>
          <Time at={last?.at} />
        </Table.Td>
        <Table.Td maw={200}>
          <Text size="sm" className="foreign">
            {targetName(row.endpoint, channels)}
          </Text>
          <Text size="xs" c="dimmed">
            {[channel && CHANNEL_KINDS[channel.kind], words(row.target.kind)].filter(Boolean).join(', ')}
          </Text>
        </Table.Td>
        <Table.Td className="foreign" miw={130}>
          {name ?? '–'}
        </Table.Td>
        <Table.Td style={{ whiteSpace: 'nowrap' }}>{last ? responseOf(last) : '–'}</Table.Td>
        <Table.Td>{count(row.attempts.length)}</Table.Td>
        <Table.Td>
          <Badge color={COLOURS[row.state]}>{words(row.state)}</Badge>
          {row.nextAttemptAt && (
            <Text size="xs" c="dimmed" component="div">
              next <Time at={row.nextAttemptAt} near="within a minute" />
            </Text>
          )}
        </Table.Td>
        <Table.Td>
          {canEdit && row.target.kind === 'webhook' && (
            <Button
              title="Sends the event to the present webhook address of the keyword"
              size="compact-xs"
              variant="default"
              leftSection={<RotateCw size={13} aria-hidden />}
              loading={resend.isPending}
              onClick={() => resend.mutate()}
            >
              Send again
            </Button>
          )}
        </Table.Td>
      </Table.Tr>
      {isOpen && (
        <Table.Tr>
          <Table.Td colSpan={8} bg="var(--ground)">
            <EventDetail delivery={row} channel={channel} />
          </Table.Td>
        </Table.Tr>
      )}
    </Fragment>
  );
}

const responseOf = ({ statusCode, durationMs }: { statusCode: number | null; durationMs: number }) =>
  `${statusCode ?? 'No response'}, ${count(durationMs)} ms`;
