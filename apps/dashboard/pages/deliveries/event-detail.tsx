import { Code, List, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { RowOf } from '../../../../clients/typescript/src/index.js';
import { api, EarshotError } from '../../api/client.js';
import { count } from '../../parts/format.js';
import { LoadingRows } from '../../parts/states.js';
import { Time } from '../../parts/time.js';

type Delivery = RowOf<'/v1/deliveries'>;

/** All attempts of a delivery, and the body that was sent. */
export function EventDetail({ delivery }: { delivery: Delivery }) {
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
      <Envelope delivery={delivery} />
      <Text size="xs" c="dimmed">
        Event {delivery.eventId}
      </Text>
    </Stack>
  );
}

/** The bytes of the request: each attempt sends the same body with a fresh signature. */
function Envelope({ delivery: { eventId, keywordId, attempts } }: { delivery: Delivery }) {
  const first = attempts[0]?.at;
  const query = useQuery({
    queryKey: ['/v1/keywords', keywordId, 'events', eventId],
    enabled: keywordId !== null && first !== undefined,
    queryFn: async ({ signal }) => {
      // The event was collected shortly before its first attempt.
      const until = new Date(Date.parse(first ?? '') + 1000).toISOString();
      const since = new Date(Date.parse(first ?? '') - 300_000).toISOString();
      const options = { path: { id: keywordId ?? '' }, query: { since, until, limit: 200 }, signal };
      for await (const event of api.paginate('/v1/keywords/{id}/events', options))
        if (event.id === eventId) return event;
      return null;
    },
  });
  if (query.isLoading) return <LoadingRows rows={1} height={120} />;
  if (!query.data) {
    const why =
      query.error instanceof EarshotError
        ? query.error.message
        : 'it is older than what is kept, or of a digest';
    return (
      <Text size="sm" c="dimmed">
        The body is not shown here: {why}.
      </Text>
    );
  }
  return (
    <div>
      <Text size="xs" c="dimmed" mb={4}>
        Request body (POST, application/json)
      </Text>
      <Code block mah={280} tabIndex={0} style={{ overflow: 'auto' }}>
        {JSON.stringify(query.data, null, 2)}
      </Code>
    </div>
  );
}
