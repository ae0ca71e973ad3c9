import type { RowOf } from '../../../../clients/typescript/src/index.js';
import { api, EarshotError } from '../../api/client.js';
import type { Mention } from '../../api/types.js';

type Delivery = Pick<RowOf<'/v1/deliveries'>, 'eventId' | 'keywordId' | 'attempts'>;
type Event = RowOf<'/v1/keywords/{id}/events'>;

/** The maximum time between an event of the keyword itself and the first attempt to deliver the event. */
const BEFORE_ATTEMPT_MS = 300_000;

/**
 * Reads the event of a delivery. The event of a mention is found by the time of the mention, even for a watch without a
 * keyword. An event of the keyword itself, such as a fired alert, is found only if the first attempt followed within
 * five minutes after the event.
 * @returns null if the event was not found
 * @throws EarshotError, EarshotConnectionError, or the reason of the signal if it aborts
 */
export async function deliveredEvent(delivery: Delivery, signal: AbortSignal): Promise<Event | null> {
  const { eventId, keywordId, attempts } = delivery;
  const mention = await mentionOf(eventId, signal);
  const first = attempts[0]?.at;
  if (mention) return eventOf(mention, signal);
  if (keywordId === null || first === undefined) return null;
  const [since, until] = [around(first, -BEFORE_ATTEMPT_MS), around(first, 1000)];
  const options = { path: { id: keywordId }, query: { since, until, limit: 200 }, signal };
  return foundIn(api.paginate('/v1/keywords/{id}/events', options), eventId);
}

async function mentionOf(id: string, signal: AbortSignal): Promise<Mention | undefined> {
  return api.get('/v1/mentions/{id}', { path: { id }, signal }).catch((error: unknown) => {
    if (error instanceof EarshotError && error.status === 404) return undefined;
    throw error;
  });
}

function eventOf({ id, source, keywordId, watchId, occurredAt }: Mention, signal: AbortSignal) {
  const query = { since: around(occurredAt, 0), until: around(occurredAt, 1), limit: 200 };
  if (keywordId !== null)
    return foundIn(api.paginate('/v1/keywords/{id}/events', { path: { id: keywordId }, query, signal }), id);
  if (watchId === null) return null;
  const options = { path: { source, id: watchId }, query, signal };
  return foundIn(api.paginate('/v1/{source}/watches/{id}/events', options), id);
}

async function foundIn(events: AsyncIterable<Event>, id: string): Promise<Event | null> {
  for await (const event of events) if (event.id === id) return event;
  return null;
}

const around = (at: string, ms: number) => new Date(Date.parse(at) + ms).toISOString();
