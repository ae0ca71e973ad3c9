import { htmlToText } from '../shared/html-text.js';
import { buildItem } from '../shared/item.js';
import {
  countOf,
  isoOfSeconds,
  isoOfText,
  listOf,
  numberOf,
  readEntries,
  recordOf,
  textOf,
  unknownShape,
  type JsonRecord,
  type Reading,
} from '../shared/shape.js';
import type { SourceItem } from '../source.js';

/** One response of Algolia's HN search. */
export interface SearchAnswer {
  items: SourceItem[];
  warnings: string[];
  /** Hits in the response, whether they could be read or not. */
  hitCount: number;
  /** Creation of the oldest hit, in epoch seconds. */
  oldestSeconds: number | undefined;
  /** True if the request reached beyond the 1,000 items that one query returns. There can be more items. */
  pastCap: boolean;
}

const SITE = 'https://news.ycombinator.com';
const KINDS = ['comment', 'story', 'poll', 'job', 'pollopt'] as const;

/**
 * Reads a response of `/search_by_date` or `/search`.
 * @throws UpstreamError `unknown_shape`
 */
export function parseSearchAnswer(body: unknown): SearchAnswer {
  const answer = recordOf(body);
  const hits = listOf(answer?.['hits']);
  if (!answer || !hits) throw unknownShape('hackernews', 'an object with a list "hits"');
  // After the first 1,000 items, Algolia answers 200 with a message and without hits. There can be further items.
  const pastCap = hits.length === 0 && textOf(answer['message']) !== undefined;
  const { items, warnings } = readEntries('hackernews', hits, readHit);
  const seconds = hits
    .map((hit) => numberOf(recordOf(hit)?.['created_at_i']))
    .filter((one) => one !== undefined);
  return {
    items,
    warnings: pastCap
      ? ['hackernews gives at most 1,000 items for one query; older ones are missing']
      : warnings,
    hitCount: hits.length,
    oldestSeconds: seconds.length === 0 ? undefined : Math.min(...seconds),
    pastCap,
  };
}

function readHit(entry: unknown): Reading {
  const hit = recordOf(entry);
  const id = textOf(hit?.['objectID']);
  if (!hit || id === undefined) return { malformed: 'no objectID' };
  const publishedAt = isoOfSeconds(hit['created_at_i']) ?? isoOfText(hit['created_at']);
  if (publishedAt === undefined) return { malformed: 'no created_at_i' };
  const kind = kindOf(hit);
  const comment = kind === 'comment';
  const title = textOf(comment ? hit['story_title'] : hit['title'])?.trim();
  const html = textOf(comment ? hit['comment_text'] : hit['story_text']);
  // A comment always has a text. Any other item has a title or a text. Otherwise the response format has changed.
  if (comment && html === undefined) return { malformed: 'no comment_text' };
  if (!comment && title === undefined && html === undefined) return { malformed: 'no title' };
  return { item: itemOf(hit, { id, kind, title, text: htmlToText(html ?? ''), publishedAt }) };
}

interface HitParts {
  id: string;
  kind: string;
  title: string | undefined;
  text: string;
  publishedAt: string;
}

function itemOf(hit: JsonRecord, { id, kind, title, text, publishedAt }: HitParts): SourceItem {
  const comment = kind === 'comment';
  const author = textOf(hit['author']);
  const hnUrl = `${SITE}/item?id=${id}`;
  const link = comment ? undefined : textOf(hit['url'])?.trim();
  const points = countOf(hit['points']);
  const numComments = countOf(hit['num_comments']);
  return buildItem('hackernews', {
    itemId: `hn:${id}`,
    eventType: 'hn_item.created',
    kind,
    url: hnUrl,
    title,
    text,
    author,
    authorUrl: author === undefined ? undefined : `${SITE}/user?id=${encodeURIComponent(author)}`,
    publishedAt,
    engagement: { score: points, replies: numComments },
    media: link === undefined ? [] : [{ url: link, type: 'link' }],
    body: {
      id,
      kind,
      url: link ?? null,
      hnUrl,
      title: title ?? null,
      text,
      points: points ?? null,
      numComments: numComments ?? null,
      // In old data (2014), stories have no story_id. In newer data, a story's story_id is its own id.
      storyId: idOf(hit['story_id']) ?? (comment ? null : id),
      storyUrl: comment ? (textOf(hit['story_url']) ?? null) : (link ?? null),
      parentId: idOf(hit['parent_id']) ?? null,
    },
  });
}

function kindOf(hit: JsonRecord): string {
  const tags = listOf(hit['_tags']) ?? [];
  return KINDS.find((kind) => tags.includes(kind)) ?? (textOf(hit['comment_text']) ? 'comment' : 'story');
}

function idOf(value: unknown): string | undefined {
  const number = numberOf(value);
  return number === undefined ? textOf(value) : String(number);
}
