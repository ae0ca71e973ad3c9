import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answer, queryOf } from '../../context.js';
import type { SimContext } from '../../context.js';
import { wordsOf, wordsOfPost } from '../../world/search-text.js';
import type { SimPost } from '../../world/post.js';
import { numericFilter, tagFilter, textMatcher } from './query.js';
import type { Hit } from './query.js';
import { hackerNewsHtml } from '../shared/markup.js';
import type { SimulatedSource } from '../simulated-source.js';

/** Maximum number of hits on all pages together. */
const PAGINATION_LIMIT = 1000;
const SERVED = { config: { source: 'hackernews' as const } };

/** Algolia's Hacker News search: `/api/v1/search_by_date`, `/api/v1/search`, `/api/v1/items/:id`. */
export const hackernewsSource: SimulatedSource = {
  routes,
  refuse: (reply, status, message) => answer(reply, status, { message, status }),
  itemIdOf: ({ id }) => `hn:${id}`,
};

function routes(app: FastifyInstance, { world }: SimContext): void {
  const search = (byDate: boolean) => (request: FastifyRequest, reply: FastifyReply) => {
    const posts = world.posts('hackernews');
    return answerSearch(posts, byDate, request, reply);
  };
  app.get('/api/v1/search_by_date', SERVED, search(true));
  app.get('/api/v1/search', SERVED, search(false));
  app.get<{ Params: { id: string } }>('/api/v1/items/:id', SERVED, (request, reply) => {
    const post = world.find('hackernews', request.params.id);
    return post ? answer(reply, 200, itemOf(post)) : answer(reply, 404, { status: 404, error: 'Not Found' });
  });
}

function answerSearch(
  posts: readonly SimPost[],
  byDate: boolean,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { one, all } = queryOf(request);
  const perPage = Math.min(PAGINATION_LIMIT, wholeFrom(one('hitsPerPage'), 20));
  const page = wholeFrom(one('page'), 0);
  const numbers = numericFilter(all('numericFilters'));
  if (!numbers) return answer(reply, 400, { message: 'Invalid syntax for numeric condition', status: 400 });
  const query = one('query') ?? '';
  const asked = request.url.split('?')[1] ?? '';
  if (page * perPage >= PAGINATION_LIMIT) return answer(reply, 200, emptyPage(page, perPage));

  const hasTags = tagFilter(one('tags'));
  const finds = textMatcher(query, {
    typos: one('typoTolerance') !== 'false' && one('typoTolerance') !== 'strict',
    prefixLast: one('queryType') !== 'prefixNone',
    optional: (one('optionalWords') ?? '').split(','),
  });
  const restricted = (one('restrictSearchableAttributes') ?? '').split(',').filter(Boolean);
  const hits: Hit[] = [];
  for (let i = posts.length - 1; i >= 0; i--) {
    const post = posts[i]!;
    if (!hasTags(tagsOf(post)) || !numbers((attribute) => numberOf(post, attribute))) continue;
    const matchedWords = finds(searchable(post, restricted));
    if (matchedWords) hits.push({ post, matchedWords });
  }
  if (!byDate) hits.sort((a, b) => b.post.score - a.post.score);
  const total = hits.length;
  return answer(reply, 200, {
    exhaustive: { nbHits: true, typo: true },
    exhaustiveNbHits: true,
    exhaustiveTypo: true,
    hits: hits.slice(page * perPage, Math.min((page + 1) * perPage, PAGINATION_LIMIT)).map(hitOf),
    hitsPerPage: perPage,
    nbHits: total,
    nbPages: perPage === 0 ? 0 : Math.ceil(Math.min(total, PAGINATION_LIMIT) / perPage),
    page,
    params: `${asked}&advancedSyntax=true&analyticsTags=backend`,
    processingTimeMS: 2,
    processingTimingsMS: { _request: { roundTrip: 13 }, fetch: { query: 1, total: 1 }, total: 2 },
    query,
    serverTimeMS: 2,
  });
}

/** Returns Algolia's answer after the thousandth hit: status 200, no hits, and a message. */
function emptyPage(page: number, hitsPerPage: number): object {
  return {
    hits: [],
    page,
    nbHits: 0,
    nbPages: 0,
    hitsPerPage,
    exhaustiveNbHits: true,
    exhaustiveTypo: true,
    exhaustive: { nbHits: true, typo: true },
    processingTimeMS: 1,
    message:
      'you can only fetch the 1000 hits for this query. You can extend the number of hits returned via the paginationLimitedTo index parameter or use the browse method. You can read our FAQ for more details about browsing: https://www.algolia.com/doc/faq/index-configuration/how-can-i-retrieve-all-the-records-in-my-index',
  };
}

function tagsOf(post: SimPost): string[] {
  const tags = [
    post.kind === 'comment' ? 'comment' : 'story',
    `author_${post.author}`,
    `story_${(post.root ?? post).id}`,
  ];
  if (/^Ask( HN)?:/.test(post.title)) tags.push('ask_hn');
  if (/^Show( HN)?:/.test(post.title)) tags.push('show_hn');
  return tags;
}

function numberOf(post: SimPost, attribute: string): number | undefined {
  if (attribute === 'created_at_i') return Math.floor(post.publishedAt / 1000);
  if (post.kind === 'comment') return undefined;
  return attribute === 'points' ? post.score : commentsBelow(post);
}

/**
 * Returns the words that a search compares. By default, the author and the address are searched too, so the text of a
 * hit does not always contain the query.
 */
function searchable(post: SimPost, restricted: readonly string[]): string[][] {
  const words = wordsOfPost(post);
  const attributes: Record<string, string[]> =
    post.kind === 'comment'
      ? { comment_text: words.text, author: wordsOf(post.author) }
      : { title: words.title, story_text: words.text, url: wordsOf(post.link), author: wordsOf(post.author) };
  const chosen = restricted.length === 0 ? Object.keys(attributes) : restricted;
  return chosen.map((key) => attributes[key] ?? []);
}

function hitOf({ post, matchedWords }: Hit): object {
  const created = new Date(post.publishedAt);
  const root = post.root ?? post;
  const common = {
    _tags: tagsOf(post),
    author: post.author,
    created_at: created.toISOString().replace(/\.\d+Z$/, 'Z'),
    created_at_i: Math.floor(post.publishedAt / 1000),
    objectID: post.id,
    story_id: Number(root.id),
    updated_at: created.toISOString().replace(/\.\d+Z$/, 'Z'),
  };
  const marked = (value: string) => highlight(value, matchedWords);
  // Recent answers leave out keys without a value; nothing is null.
  const children = post.replies.length > 0 ? { children: post.replies.map(({ id }) => Number(id)) } : {};
  if (post.kind === 'comment') {
    const text = {
      comment_text: hackerNewsHtml(post.text),
      story_title: root.title,
      ...(root.link && { story_url: root.link }),
    };
    const highlighted = Object.fromEntries(Object.entries(text).map(([key, value]) => [key, marked(value)]));
    return {
      _highlightResult: { author: marked(post.author), ...highlighted },
      ...common,
      ...text,
      ...children,
      parent_id: Number(post.parent?.id),
    };
  }
  const text = {
    title: post.title,
    ...(post.link && { url: post.link }),
    ...(post.text && { story_text: hackerNewsHtml(post.text) }),
  };
  const highlighted = Object.fromEntries(Object.entries(text).map(([key, value]) => [key, marked(value)]));
  const counts = { num_comments: commentsBelow(post), points: post.score };
  return {
    _highlightResult: { author: marked(post.author), ...highlighted },
    ...common,
    ...text,
    ...children,
    ...counts,
  };
}

function highlight(value: string, words: readonly string[]): object {
  let marked = value;
  const found: string[] = [];
  for (const word of words) {
    const at = marked.toLowerCase().indexOf(word);
    if (at < 0) continue;
    found.push(word);
    marked = `${marked.slice(0, at)}<em>${marked.slice(at, at + word.length)}</em>${marked.slice(at + word.length)}`;
  }
  if (found.length === 0) return { matchLevel: 'none', matchedWords: [], value };
  const matchLevel = found.length === words.length ? 'full' : 'partial';
  return { fullyHighlighted: false, matchLevel, matchedWords: found, value: marked };
}

function itemOf(post: SimPost): object {
  return {
    id: Number(post.id),
    created_at: new Date(post.publishedAt).toISOString(),
    created_at_i: Math.floor(post.publishedAt / 1000),
    type: post.kind === 'comment' ? 'comment' : 'story',
    author: post.author,
    title: post.kind === 'comment' ? null : post.title,
    url: post.link || null,
    text: hackerNewsHtml(post.text) || null,
    points: post.kind === 'comment' ? null : post.score,
    parent_id: post.parent ? Number(post.parent.id) : null,
    story_id: Number((post.root ?? post).id),
    children: post.replies.map(itemOf),
    options: [],
  };
}

function commentsBelow(post: SimPost): number {
  return post.replies.reduce((count, reply) => count + 1 + commentsBelow(reply), 0);
}

function wholeFrom(text: string | undefined, otherwise: number): number {
  const value = Number(text ?? otherwise);
  return Number.isInteger(value) && value >= 0 ? value : otherwise;
}
