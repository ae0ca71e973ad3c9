import { create } from '@bufbuild/protobuf';
import { EventSchema } from '#contracts';
import { ruleSubjectOf } from './subject.js';

describe('the values that rules read from an event', () => {
  it('are those of the item and its readings, including the price and brand of a listing [rules.fields]', () => {
    const event = create(EventSchema, {
      ...{ eventId: 'e', source: 'vinted', vip: true, lang: 'en', relevance: 0 },
      aiJson: '{"status":"completed","output":{"x":1}}',
      analysis: { sentiment: 'mixed', sentimentScore: 0, intent: 'other' },
      bucket: { key: 'k', label: 'L' },
      matched: {
        matches: [{ term: 'a' }, { term: 'a' }, { term: 'b' }],
        item: {
          ...{ kind: 'listing', title: 'T', text: 'B', url: 'https://u', author: 'ada' },
          engagement: { likes: 0 },
          bodyJson: '{"price":9.5,"previousPrice":12,"brand":"Nike","authorFollowers":7}',
        },
      },
    });
    expect(ruleSubjectOf(event)).toMatchObject({
      ...{ source: 'vinted', kind: 'listing', title: 'T', body: 'B', author: 'ada', community: undefined },
      ...{ lang: 'en', sentiment: 'mixed', sentimentScore: 0, intent: 'other', relevance: 0, vip: true },
      ...{ bucket: ['k', 'L'], price: 9.5, previousPrice: 12, brand: 'Nike', likes: 0, views: undefined },
      ...{ authorFollowers: 7, matchedTerm: ['a', 'b'], ai: { x: 1 } },
    });
  });
});
