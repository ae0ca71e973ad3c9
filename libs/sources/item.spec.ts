import { toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { ItemSchema } from '#contracts';
import { buildItem } from './item.js';

const PARTS = {
  itemId: 'hn:1',
  eventType: 'hn_item.created',
  kind: 'story',
  url: 'https://example.org',
  body: { id: '1' },
};

describe('an item of any source', () => {
  it('leaves out counts that the wire cannot carry, and keeps the others', () => {
    const item = buildItem('hackernews', {
      ...PARTS,
      engagement: { likes: 3, views: 3_000_000_000, score: 1.5, replies: -2 },
    });
    expect(item.engagement).toMatchObject({ likes: 3, replies: -2 });
    expect([item.engagement?.views, item.engagement?.score]).toEqual([undefined, undefined]);
    expect(() => toBinary(ItemSchema, item)).not.toThrow();
  });

  it.each([
    ['comment', true],
    ['answer', true],
    ['story', false],
  ])('of kind %s has the title of its parent: %s', (kind, titleOfParent) => {
    expect(buildItem('hackernews', { ...PARTS, kind, title: 'A lamp' })).toMatchObject({ titleOfParent });
  });

  it('has an id that every table takes', () => {
    expect(buildItem('hackernews', { ...PARTS, itemId: 'hn:\u00001' }).itemId).toBe('hn:1');
  });
});
