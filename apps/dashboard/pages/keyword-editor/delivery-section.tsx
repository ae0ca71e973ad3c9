import {
  ActionIcon,
  Anchor,
  Button,
  Group,
  MultiSelect,
  NativeSelect,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Plus, Trash2 } from 'lucide-react';
import { Link } from 'react-router';
import { api } from '../../api/client.js';
import { CHANNEL_KINDS } from '../../parts/channel-kind.js';
import { isolated, words } from '../../parts/format.js';
import { Section } from '../../parts/section.js';
import { useDraft } from './draft.js';

const EVENTS = [
  { value: 'keyword.alert_fired', label: 'An alert fired' },
  { value: 'keyword.report_ready', label: 'A weekly report is ready' },
  { value: 'keyword.paused', label: 'The keyword was paused' },
  { value: 'keyword.resumed', label: 'The keyword was resumed' },
  { value: 'channel.disabled', label: 'A channel was disabled' },
];
const MODES = ['instant', 'hourly', 'daily', 'daily_brief', 'weekly_report'].map((value) => ({
  value,
  label: words(value),
}));
const SPIKES = [
  { value: '', label: 'none' },
  { value: 'low', label: 'low sensitivity' },
  { value: 'medium', label: 'medium sensitivity' },
  { value: 'high', label: 'high sensitivity' },
];
const MAX_CHANNELS = 5;

/** Where mentions and alerts are sent. */
export function DeliverySection() {
  const form = useDraft();
  return (
    <Section title="Where to send mentions">
      <Stack>
        <Channels />
        <Group grow align="flex-start" wrap="wrap" preventGrowOverflow={false}>
          <TextInput
            label="Webhook"
            placeholder="https://example.com/hooks/earshot"
            miw={240}
            {...form.getInputProps('webhookUrl')}
          />
          <NativeSelect
            label="The webhook gets"
            miw={180}
            data={[
              { value: 'all', label: 'every mention' },
              { value: 'rules', label: 'what a rule sends' },
            ]}
            {...form.getInputProps('webhookMode')}
          />
        </Group>
        <Group grow align="flex-start" wrap="wrap" preventGrowOverflow={false}>
          <MultiSelect
            label="Send these events too"
            miw={240}
            data={EVENTS}
            clearable
            {...form.getInputProps('webhookEvents')}
          />
          <NativeSelect label="Spike alert" miw={180} data={SPIKES} {...form.getInputProps('spikeAlert')} />
        </Group>
      </Stack>
    </Section>
  );
}

function Channels() {
  const form = useDraft();
  const known = useQuery({
    queryKey: ['/v1/channels', 'all'],
    queryFn: ({ signal }) => api.get('/v1/channels', { query: { limit: 200 }, signal }),
  });
  const choices = (known.data?.data ?? []).map(({ id, name, kind }) => ({
    value: id,
    label: `${isolated(name)} (${CHANNEL_KINDS[kind]})`,
  }));
  const { channels } = form.values;
  const unused = choices.find(({ value }) => channels.every(({ channelId }) => channelId !== value));
  // Without an option for a deleted channel, the browser would show another channel.
  const withStored = (id: string) =>
    choices.some(({ value }) => value === id)
      ? choices
      : [{ value: id, label: 'A channel that does not exist any more' }, ...choices];
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        Channels
      </Text>
      {channels.map(({ channelId }, index) => (
        <Group key={index} gap="xs" align="flex-start">
          <NativeSelect
            size="xs"
            flex={1}
            aria-label={`Channel ${index + 1}`}
            data={known.data ? withStored(channelId) : choices}
            {...form.getInputProps(`channels.${index}.channelId`)}
          />
          <NativeSelect
            size="xs"
            aria-label="When"
            data={MODES}
            {...form.getInputProps(`channels.${index}.mode`)}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove channel ${index + 1}`}
            onClick={() => form.removeListItem('channels', index)}
          >
            <Trash2 size={15} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      {unused && channels.length < MAX_CHANNELS ? (
        <div>
          <Button
            size="xs"
            variant="default"
            leftSection={<Plus size={14} aria-hidden />}
            onClick={() => form.insertListItem('channels', { channelId: unused.value, mode: 'instant' })}
          >
            Send to a channel
          </Button>
        </div>
      ) : (
        known.data &&
        choices.length === 0 && (
          <Text size="sm" c="dimmed">
            No channel yet.{' '}
            <Anchor component={Link} to="/channels">
              Set one up
            </Anchor>
            : mail, Slack, Discord, Teams, Telegram or a webhook.
          </Text>
        )
      )}
    </Stack>
  );
}
