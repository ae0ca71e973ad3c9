import { create } from '@bufbuild/protobuf';
import { ItemSchema } from '#contracts';
import { exploreCriteria, matching } from './explore-worker.js';

const asked = {
  question: 'teapots',
  market: 'global',
  terms: ['silver pot', 'golden pot'],
  feedUrls: ['https://a.example/'],
};

describe('the question of an Explore to a source', () => {
  it('becomes a query, a search for any of the terms, the prompt of ai_answers, or the feeds of rss', () => {
    const criteria = (more: object) => exploreCriteria({ source: 'hackernews', ...asked, ...more });
    expect(criteria({ terms: [] })).toMatchObject({ query: 'teapots', terms: [] });
    expect(criteria({ terms: ['silver pot'] })).toMatchObject({ query: 'silver pot', terms: [] });
    expect(criteria({}).terms).toEqual(asked.terms);
    expect(criteria({})).not.toHaveProperty('query');
    expect(criteria({ source: 'ai_answers' })).toMatchObject({ filters: { prompt: 'teapots' }, terms: [] });
    expect(criteria({ source: 'rss' })).toMatchObject({ filters: { feed_urls: asked.feedUrls }, terms: [] });
  });
});

describe('the newest posts of a source without a search', () => {
  const items = ['A Silver Pot', 'a silver potter', 'About teapots'].map((title, n) =>
    create(ItemSchema, { itemId: String(n), title }),
  );
  const kept = (terms: string[]) =>
    matching({ items, gap: false, warnings: ['one'] }, { ...asked, source: 'rss', terms });

  it('are kept if they contain a term or the question as whole words; a warning states how many were read', () => {
    expect(kept(asked.terms).items.map(({ itemId }) => itemId)).toEqual(['0']);
    expect(kept([]).items.map(({ itemId }) => itemId)).toEqual(['2']);
    expect(kept([]).warnings).toEqual([
      'one',
      'rss has no search: its 3 newest posts were read, and posts with a term or the question were kept (1)',
    ]);
  });
});
