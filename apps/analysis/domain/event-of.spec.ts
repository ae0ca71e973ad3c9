import { create, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { CheckSchema, EventSchema, ItemSchema, MatchedItemSchema } from '#contracts';
import { newId } from '#kernel';
import { buildItem } from '#sources';
import { eventOf } from './event-of.js';

const treatment = { dropped: undefined, vip: false, verdicts: [], matchMode: 'platform' };
const matched = create(MatchedItemSchema, {
  item: create(ItemSchema, { itemId: 'ph:1', source: 'producthunt', bodyJson: '{"id":"1"}' }),
});
const checkOf = (more: MessageInitShape<typeof CheckSchema> = {}) =>
  create(CheckSchema, { watchId: newId(), source: 'producthunt', matchMode: 'word', ...more });

describe('the event of an item', () => {
  it('fits into a message of 1 MiB even for the largest possible item', () => {
    const huge = '"\u0001é'.repeat(200_000);
    const item = buildItem('producthunt', {
      itemId: huge,
      eventType: 'producthunt_post.created',
      kind: 'post',
      url: 'https://example.org/'.padEnd(2000, 'x'),
      title: huge,
      text: huge,
      author: huge,
      media: Array.from({ length: 50 }, () => ({
        url: 'https://example.org/'.padEnd(2000, 'x'),
        type: 'image',
      })),
      body: { id: huge, text: huge, lists: Array.from({ length: 500 }, () => ({ a: huge, b: huge })) },
    });
    const matches = Array.from({ length: 550 }, (_, start) => ({
      term: '東'.repeat(60),
      field: 'text',
      start,
      end: start,
    }));
    const verdicts = Array.from({ length: 150 }, () => ({
      step: 'mute',
      value: '東'.repeat(60),
      hit: false,
      detail: 'word in text',
    }));
    const event = eventOf(checkOf(), create(MatchedItemSchema, { item, matches }), {
      ...treatment,
      verdicts,
    });
    expect(toBinary(EventSchema, event).length).toBeLessThan(900 * 1024);
  });

  it('is not pushed for an item that was published before the watch began', () => {
    const eventsOf = (baseline: boolean, backfilled: boolean) =>
      eventOf(checkOf({ baseline }), { ...matched, backfilled }, treatment);
    expect(eventsOf(false, false)).toMatchObject({ push: true, backfilled: false });
    expect(eventsOf(false, true)).toMatchObject({ push: false, backfilled: true });
    expect(eventsOf(true, false)).toMatchObject({ push: false, backfilled: true });
  });

  it('has the match mode that the check used, or the mode of the search when the check is too old to name one', () => {
    expect(eventOf(checkOf(), matched, treatment).matchMode).toBe('word');
    expect(eventOf(checkOf({ matchMode: '' }), matched, treatment).matchMode).toBe('platform');
  });
});
