import type { Digest, DigestItem } from '#contracts';
import { digestMessage } from './digest-message.js';

const item = (n: number, more: Partial<DigestItem> = {}): DigestItem => ({
  ...{ mentionId: `m${n}`, source: 'vinted', kind: 'listing', url: null, title: `Item ${n}`, excerpt: '' },
  ...{ author: 'ada', community: null, vip: false, labels: [], publishedAt: null },
  ...{ occurredAt: '2026-03-04T09:00:00.000Z', sentiment: null, intent: null },
  ...more,
});
const digestOf = (...items: DigestItem[]): Digest => ({
  ...{ id: 'd', mode: 'daily', channelId: 'c', keyword: { id: 'k', name: 'Acme' }, timezone: 'UTC' },
  period: { from: '2026-03-03T09:00:00.000Z', to: '2026-03-04T09:00:00.000Z' },
  ...{ total: items.length, more: 0, priority: [], summary: null, report: null },
  groups: [{ bucket: null, stories: items.map((one) => ({ storyId: null, items: [one] })) }],
});

it('a digest says what happened to an item that is not new, unless an earlier version stored the item', () => {
  const none = { price: null, previousPrice: null, currency: null, brand: null };
  const price = { price: 15, previousPrice: 20, currency: 'EUR', brand: null };
  const message = digestMessage(
    digestOf(
      item(1, { event: { ...none, type: 'listing.created' } }),
      item(2, { event: { ...price, type: 'listing.price_changed' } }),
      item(3, {
        source: 'ai_answers',
        author: null,
        event: { ...none, type: 'term.uncited', brand: 'Acme' },
      }),
      item(4),
    ),
  );
  expect(message.sections[0]?.entries.map(({ meta }) => meta)).toEqual([
    'Vinted · ada',
    'Vinted · price changed: 20.00 to 15.00 EUR · ada',
    'AI answers · no longer cites Acme',
    'Vinted · ada',
  ]);
});
