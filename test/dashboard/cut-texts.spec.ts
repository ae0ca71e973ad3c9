import { feedMention } from '../../apps/dashboard/pages/feed/feed-mention.js';
import { bodyOfPlan } from '../../apps/dashboard/pages/start/plan.js';
import type { Mention } from '../../apps/dashboard/api/types.js';

const FAMILY = '👩‍👩‍👧‍👦';

describe('a text that is too long', () => {
  it('is not cut in the middle of an emoji in a row of the feed', () => {
    const long = (length: number) => `${'x'.repeat(length - 5)}${FAMILY} more`;
    const row = feedMention({ title: long(240), excerpt: long(420) } as Mention);
    expect([row.title, row.excerpt]).toEqual(['x'.repeat(235), 'x'.repeat(415)]);
  });

  it('is not cut in the middle of an emoji in the name of the first keyword', () => {
    const plan = { terms: ['Acme'], sources: [], feedUrls: [], intervalSeconds: 60 };
    expect(bodyOfPlan({ brand: `${'x'.repeat(79)}😀`, ...plan }).name).toBe('x'.repeat(79));
  });
});
