import { Alert, Badge, Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Pencil, Send, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { api, patientApi } from '../../api/client.js';
import { queries } from '../../api/queries.js';
import { useCanEdit } from '../../api/session.js';
import { Confirm } from '../../parts/confirm.js';
import { count, words } from '../../parts/format.js';
import { notify, notifyFailure } from '../../parts/notify.js';
import { Problem } from '../../parts/problem.js';
import { KINDS, valuesOf, type Channel } from './kinds.js';

const COLOURS = { active: 'teal', unverified: 'yellow', disabled: 'red' } as const;
const ADDRESS_COLOURS = {
  verified: 'teal',
  unverified: 'yellow',
  unsubscribed: 'gray',
  refused: 'red',
} as const;
const refresh = () => queries.invalidateQueries({ queryKey: ['/v1/channels'] });

/** A channel with its state and its actions. */
export function ChannelCard({ channel, onChange }: { channel: Channel; onChange: () => void }) {
  const { id, name, kind, state, addresses } = channel;
  const canEdit = useCanEdit();
  const [isDeleting, setDeleting] = useState(false);
  const test = useMutation({
    mutationFn: () => patientApi.post('/v1/channels/{id}/test', { path: { id } }),
    onSettled: refresh,
  });
  const enable = useMutation({
    mutationFn: () => api.post('/v1/channels/{id}/enable', { path: { id } }),
    onSuccess: () =>
      notify(
        <>
          <bdi>{name}</bdi> is enabled again
        </>,
      ),
    onSettled: refresh,
    onError: (error) => notifyFailure('The channel was not enabled', error),
  });
  const remove = useMutation({
    mutationFn: () => api.delete('/v1/channels/{id}', { path: { id } }),
    onSuccess: async () => {
      setDeleting(false);
      notify(
        <>
          <bdi>{name}</bdi> was deleted
        </>,
      );
    },
    onSettled: refresh,
  });
  return (
    <Paper p="md" bg="var(--surface)" component="section" aria-label={name}>
      <Stack gap="sm">
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <div style={{ minWidth: 0 }}>
            <Title order={2} className="foreign">
              {name}
            </Title>
            <Text size="sm" c="dimmed" className="foreign">
              {KINDS[kind].name} {kind !== 'email' && `· ${destinationOf(channel)}`}
            </Text>
          </div>
          <Badge color={COLOURS[state]} style={{ flex: 'none' }}>
            {words(state)}
          </Badge>
        </Group>
        {addresses.length > 0 && (
          <Group gap="xs">
            {addresses.map(({ address, state: verified }) => (
              <Badge key={address} color={ADDRESS_COLOURS[verified]} className="foreign">
                {address}: {words(verified).toLowerCase()}
              </Badge>
            ))}
          </Group>
        )}
        {state === 'disabled' && (
          <Alert color="red" title="Earshot sends nothing to this channel">
            <Text size="sm" className="foreign">
              {channel.disabledReason ?? 'The service refused the messages permanently.'} Correct the channel,
              or enable it again.
            </Text>
          </Alert>
        )}
        {test.error && <Problem error={test.error} title="The test was not sent" />}
        {test.data && (
          <Alert
            color={test.data.delivered ? 'teal' : 'red'}
            role="status"
            title={test.data.delivered ? 'The message arrived' : 'The message did not arrive'}
          >
            <Text size="sm" className="foreign">
              {test.data.message || `Status ${test.data.statusCode ?? 'unknown'}`} (
              {count(test.data.durationMs)} ms)
            </Text>
            {test.data.statusCode === 404 && <Text size="sm">{KINDS[kind].unknownAddress}</Text>}
          </Alert>
        )}
        {canEdit && (
          <Group gap="xs">
            <Button
              size="xs"
              variant="default"
              leftSection={<Send size={14} aria-hidden />}
              loading={test.isPending}
              onClick={() => test.mutate()}
            >
              Send a test
            </Button>
            {state === 'disabled' && (
              <Button size="xs" loading={enable.isPending} onClick={() => enable.mutate()}>
                Enable
              </Button>
            )}
            <Button
              size="xs"
              variant="default"
              leftSection={<Pencil size={14} aria-hidden />}
              onClick={onChange}
            >
              Change
            </Button>
            <Button
              size="xs"
              variant="subtle"
              color="red"
              leftSection={<Trash2 size={14} aria-hidden />}
              onClick={() => setDeleting(true)}
            >
              Delete
            </Button>
          </Group>
        )}
      </Stack>
      {isDeleting && (
        <Confirm
          title={
            <>
              Delete <bdi>{name}</bdi>?
            </>
          }
          action="Delete"
          isPending={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate()}
          onClose={() => setDeleting(false)}
        >
          Keywords that use this channel no longer send messages to it. The messages that were sent stay on
          the page of the deliveries. You cannot restore the channel.
        </Confirm>
      )}
    </Paper>
  );
}

/** Returns the destination of the channel. Secrets are masked: only their last four characters are visible. */
function destinationOf(channel: Channel): string {
  const { webhookUrl, botToken, chatId, url } = valuesOf(channel);
  return url || webhookUrl || `chat ${chatId}, bot ${botToken}`;
}
