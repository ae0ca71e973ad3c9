import type { FakeRequest } from '../../testing/fake-upstream.js';
import type { FakePost } from '../../testing/connector-contract.js';

// Only for specs: hits in the current format, and a server that limits its results like Algolia.

/** A story hit. */
export function storyHit(n: number, at: Date, more: Record<string, unknown> = {}): Record<string, unknown> {
  const id = String(40_000_000 - n);
  return {
    _tags: ['story', 'author_ada_byron', `story_${id}`],
    _highlightResult: { title: { value: `Show HN: <em>Lamp</em> number ${n}`, matchLevel: 'full' } },
    author: 'ada_byron',
    children: [],
    created_at: at.toISOString().replace('.000', ''),
    created_at_i: at.getTime() / 1000,
    num_comments: 3,
    objectID: id,
    points: 12,
    story_id: Number(id),
    title: `Show HN: Lamp number ${n}`,
    updated_at: at.toISOString(),
    url: `https://lamps.example/${n}`,
    ...more,
  };
}

/** A comment hit. */
export function commentHit(n: number, at: Date, more: Record<string, unknown> = {}): Record<string, unknown> {
  const id = String(50_000_000 - n);
  return {
    _tags: ['comment', 'author_Grace-H', 'story_40000001'],
    author: 'Grace-H',
    comment_text:
      'It&#x27;s bright.<p>See <a href="https:&#x2F;&#x2F;lamps.example&#x2F;reviews&#x2F;of&#x2F;2026" rel="nofollow">https:&#x2F;&#x2F;lamps.example&#x2F;revi...</a>',
    created_at: at.toISOString().replace('.000', ''),
    created_at_i: at.getTime() / 1000,
    objectID: id,
    parent_id: 40_000_002,
    story_id: 40_000_001,
    story_title: 'Show HN: Lamp number 1',
    story_url: 'https://lamps.example/1',
    updated_at: at.toISOString(),
    ...more,
  };
}

/** The answer to a search among these posts. */
export function serveStories(posts: readonly FakePost[], request: FakeRequest): { body: object } {
  const hitsPerPage = Number(request.at.searchParams.get('hitsPerPage'));
  const filters = (request.at.searchParams.get('numericFilters') ?? '').split(',');
  const bound = (start: string) =>
    Number(filters.find((filter) => filter.startsWith(start))?.slice(start.length) ?? NaN);
  const [after, upTo] = [bound('created_at_i>'), bound('created_at_i<=')];
  const hits = posts
    .filter(({ at }) => !(at.getTime() / 1000 <= after) && !(at.getTime() / 1000 > upTo))
    .slice(0, hitsPerPage)
    .map(({ n, at }) => storyHit(n, at));
  return { body: { hits, page: 0, nbHits: hits.length, nbPages: 1, hitsPerPage } };
}
