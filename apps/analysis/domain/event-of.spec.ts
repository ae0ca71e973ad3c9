import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { CheckSchema, ItemSchema, MatchedItemSchema } from '#contracts';
import { newId } from '#kernel';
import { eventOf } from './event-of.js';

const treatment = { dropped: undefined, vip: false, verdicts: [], matchMode: 'platform' };
const matched = create(MatchedItemSchema, {
  item: create(ItemSchema, { itemId: 'ph:1', source: 'producthunt', bodyJson: '{"id":"1"}' }),
});
const checkOf = (more: MessageInitShape<typeof CheckSchema> = {}) =>
  create(CheckSchema, { watchId: newId(), source: 'producthunt', matchMode: 'word', ...more });

describe('the event of an item', () => {
  it('has the match mode that the check used, and the one of the search where the check is too old to say', () => {
    expect(eventOf(checkOf(), matched, treatment).matchMode).toBe('word');
    expect(eventOf(checkOf({ matchMode: '' }), matched, treatment).matchMode).toBe('platform');
  });
});
