import { ActionIcon, Button, Group, Select, Table, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { CalendarClock, Plus, X } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { api } from '../../api/client.js';
import { queries } from '../../api/queries.js';
import { useCanEdit, useSession } from '../../api/session.js';
import type { Keyword } from '../../api/types.js';
import { hourOfDay, words } from '../../parts/format.js';
import { notify, notifyFailure } from '../../parts/notify.js';
import { Empty, Loaded } from '../../parts/states.js';
import { DataTable } from '../../parts/table.js';

const MODES = ['instant', 'hourly', 'daily', 'daily_brief', 'weekly_report'] as const;
type Mode = (typeof MODES)[number];

const WHEN: Readonly<Record<Mode, string>> = {
  instant: 'each mention immediately',
  hourly: 'at the full hour',
  daily: `every day at ${hourOfDay(9)}`,
  daily_brief: `every day at ${hourOfDay(9)}, with a summary`,
  weekly_report: `Mondays at ${hourOfDay(9)}, with charts`,
};

/** The channels of each keyword, and when each channel gets mentions. */
export function Plans() {
  const { timezone } = useSession().account;
  const query = useQuery({
    queryKey: ['/v1/keywords', 'channels'],
    queryFn: async ({ signal }) => {
      const keywords: Keyword[] = [];
      for await (const one of api.paginate('/v1/keywords', {
        query: { limit: 100, state: ['active', 'paused'] },
        signal,
      }))
        keywords.push(one as Keyword);
      const channels: { id: string; name: string }[] = [];
      for await (const one of api.paginate('/v1/channels', { query: { limit: 200 }, signal }))
        channels.push(one);
      return { keywords, channels };
    },
  });
  return (
    <Loaded query={query}>
      {({ keywords, channels }) => {
        if (channels.length === 0)
          return (
            <Empty
              icon={CalendarClock}
              title="No channels yet"
              action={
                <Button component={Link} to="/channels">
                  Add a channel
                </Button>
              }
            >
              Earshot sends digests to channels, so add a channel first.
            </Empty>
          );
        return (
          <>
            <Text size="sm" c="dimmed" mb="sm">
              Times are in the account’s time zone, {timezone}.{' '}
              <Link to="/settings">Change it in the settings.</Link>
            </Text>
            <DataTable label="Channels of each keyword" head={['Keyword', 'Gets']} minWidth={560}>
              {keywords.map((keyword) => (
                <PlanRow key={keyword.id} keyword={keyword} channels={channels} />
              ))}
            </DataTable>
          </>
        );
      }}
    </Loaded>
  );
}

function PlanRow({
  keyword,
  channels,
}: {
  keyword: Keyword;
  channels: readonly { id: string; name: string }[];
}) {
  const canEdit = useCanEdit();
  const [channel, setChannel] = useState<string | null>(null);
  const [mode, setMode] = useState<string | null>('daily');
  const save = useMutation({
    mutationFn: async (change: (plans: Keyword['channels']) => Keyword['channels']) => {
      const path = { id: keyword.id };
      // Another member can have changed the channels since the page was loaded.
      const { channels: present } = await api.get('/v1/keywords/{id}', { path });
      await api.patch('/v1/keywords/{id}', { path, body: { channels: change(present) } as never });
    },
    onSuccess: async () => {
      setChannel(null);
      notify('The change was saved');
      await queries.invalidateQueries({ queryKey: ['/v1/keywords'] });
    },
    onError: (error) => notifyFailure('The change was not saved', error),
  });
  const nameOf = (id: string) => channels.find((one) => one.id === id)?.name ?? 'a deleted channel';
  return (
    <Table.Tr>
      <Table.Td className="foreign" style={{ verticalAlign: 'top' }}>
        <Link to={`/keywords/${keyword.id}`}>{keyword.name}</Link>
      </Table.Td>
      <Table.Td>
        {keyword.channels.length === 0 && (
          <Text size="sm" c="dimmed">
            No channel
          </Text>
        )}
        {keyword.channels.map((plan) => (
          <Group key={`${plan.channelId} ${plan.mode}`} gap="xs">
            <Text size="sm" className="foreign">
              <bdi style={{ fontWeight: 700 }}>{nameOf(plan.channelId)}</bdi>: {words(plan.mode)},{' '}
              {WHEN[plan.mode]}
            </Text>
            {canEdit && (
              <ActionIcon
                size="sm"
                variant="subtle"
                color="gray"
                aria-label={`Remove ${words(plan.mode)} to ${nameOf(plan.channelId)}`}
                disabled={save.isPending}
                onClick={() =>
                  save.mutate((present) =>
                    present.filter(
                      ({ channelId, mode: its }) => channelId !== plan.channelId || its !== plan.mode,
                    ),
                  )
                }
              >
                <X size={14} aria-hidden />
              </ActionIcon>
            )}
          </Group>
        ))}
        {canEdit && (
          <Group gap="xs" mt="xs">
            <Select
              size="xs"
              aria-label={`Channel for ${keyword.name}`}
              placeholder="Channel"
              data={channels.map(({ id, name }) => ({ value: id, label: name }))}
              value={channel}
              onChange={setChannel}
            />
            <Select
              size="xs"
              aria-label={`Mode for ${keyword.name}`}
              allowDeselect={false}
              data={MODES.map((value) => ({ value, label: words(value) }))}
              value={mode}
              onChange={setMode}
            />
            <Button
              size="xs"
              variant="default"
              leftSection={<Plus size={14} aria-hidden />}
              disabled={channel === null}
              loading={save.isPending}
              onClick={() =>
                channel &&
                save.mutate((present) => [
                  ...present,
                  { channelId: channel, mode: (mode ?? 'daily') as Mode },
                ])
              }
            >
              Add
            </Button>
          </Group>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
