import { Code, List, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { RowOf } from '../../../../clients/typescript/src/index.js';
import { channelIdOf, type Channel } from '../../api/channels.js';
import { errorText } from '../../parts/error-text.js';
import { CHANNEL_KINDS } from '../../parts/channel-kind.js';
import { count } from '../../parts/format.js';
import { LoadingRows } from '../../parts/states.js';
import { Time } from '../../parts/time.js';
import { deliveredEvent } from './delivered-event.js';

type Delivery = RowOf<'/v1/deliveries'>;

interface Props {
  delivery: Delivery;
  /**
   * The channel that got the delivery. Undefined for a webhook address, for a deleted channel, and until the channels
   * are loaded.
   */
  channel: Channel | undefined;
}

/** Shows all attempts of a delivery, and its event. */
export function EventDetail({ delivery, channel }: Props) {
  return (
    <Stack gap="sm" py="xs">
      <List size="sm" spacing={4}>
        {delivery.attempts.map((attempt) => (
          <List.Item key={`${attempt.number} ${attempt.at}`} className="foreign">
            Attempt {attempt.number}, <Time at={attempt.at} />: {attempt.delivered ? 'delivered' : 'failed'},{' '}
            {attempt.statusCode === null ? 'no response' : `status ${attempt.statusCode}`},{' '}
            {count(attempt.durationMs)} ms
            {attempt.message && `: ${attempt.message}`}
          </List.Item>
        ))}
      </List>
      <SentEvent delivery={delivery} channel={channel} />
      <Text size="xs" c="dimmed">
        Event {delivery.eventId}
      </Text>
    </Stack>
  );
}

/** Shows the event of a delivery. Each attempt to a webhook sends the same bytes of the event, with a new signature. */
function SentEvent({ delivery, channel }: Props) {
  const { eventId, target } = delivery;
  const query = useQuery({
    queryKey: ['/v1/deliveries', 'event', eventId],
    enabled: !(target.kind in WITHOUT_EVENT),
    queryFn: ({ signal }) => deliveredEvent(delivery, signal),
    staleTime: Infinity,
  });
  if (query.isLoading) return <LoadingRows rows={1} height={120} />;
  if (!query.data)
    return (
      <Text size="sm" c="dimmed">
        {WITHOUT_EVENT[target.kind] ??
          (query.error
            ? `The event is not shown here: ${errorText(query.error).message}.`
            : 'The event is not shown here: it is not a mention, and the keyword has no such event in the five minutes before the first attempt.')}
      </Text>
    );
  return (
    <div>
      <Text size="xs" c="dimmed" mb={4}>
        {headingOf(delivery, channel)}
      </Text>
      <Code block mah={280} tabIndex={0} style={{ overflow: 'auto' }}>
        {JSON.stringify(query.data, null, 2)}
      </Code>
    </div>
  );
}

/** For each kind of delivery without an event, the reason. */
const WITHOUT_EVENT: Readonly<Record<string, string>> = {
  digest: 'A digest is one message about the mentions of a period, so it has no event.',
  verification: 'This was the mail that asks to confirm an address, so it has no event.',
};

function headingOf({ endpoint }: Delivery, channel: Channel | undefined): string {
  const isBody = channelIdOf(endpoint) === undefined || channel?.kind === 'webhook';
  if (isBody) return 'Request body (POST, application/json)';
  return `The event, which ${channel ? CHANNEL_KINDS[channel.kind] : 'the channel'} gets as a formatted message`;
}
