import { BODY_KEY_OF, EVENT_TYPES_OF, NO_BODY, type Envelope, type SourceId } from '#contracts';

/**
 * Returns a sample event for the test of a webhook or a channel: an envelope like that of a real event, but without a
 * watch and a keyword. An item has only a few keys, and the data of an alert or a report are `{"test": true}`.
 * @param occurredAt ISO 8601
 */
export function sampleEvent(id: string, type: string, occurredAt: string): Envelope & { data?: object } {
  const source = sourceOf(type);
  return {
    id,
    type,
    watchId: null,
    keywordId: null,
    ...NO_BODY,
    ...(source ? { [BODY_KEY_OF[source]]: bodyOf(source, type, occurredAt) } : {}),
    previousPrice: type === 'listing.price_changed' ? 12 : null,
    occurredAt,
    ai: null,
    ...(source ? {} : { data: dataOf(type) }),
  };
}

function sourceOf(type: string): SourceId | undefined {
  const sources = Object.entries(EVENT_TYPES_OF) as [SourceId, readonly string[]][];
  return sources.find(([, types]) => types.includes(type))?.[0];
}

function bodyOf(source: SourceId, type: string, publishedAt: string): object {
  const text = 'This is a test event of Earshot. Nothing was found.';
  const body = {
    id: 'test',
    source,
    kind: type.includes('comment') ? 'comment' : 'post',
    url: 'https://example.com/test',
    author: 'earshot',
    title: 'Test event',
    text,
    publishedAt,
  };
  if (source === 'vinted')
    return { ...body, market: 'fr', price: type === 'listing.price_changed' ? 10 : 12, currency: 'EUR' };
  return source === 'x' ? { ...body, authorId: '0', createdAt: publishedAt } : body;
}

function dataOf(type: string): object {
  switch (type) {
    case 'keyword.paused':
    case 'keyword.resumed':
      return { reason: 'user', creditsRemaining: 1000 };
    case 'channel.disabled':
      return {
        channelId: null,
        kind: 'webhook',
        url: 'https://example.com/test',
        reason: 'this is a test',
        failures: 1,
        lastStatusCode: 410,
      };
    default:
      return { test: true };
  }
}
