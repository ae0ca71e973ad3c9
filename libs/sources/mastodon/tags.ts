import type { Criteria, MatchMode } from '#contracts';
import { merged, readPages, type Page } from '../shared/paging.js';
import { sessionCache } from '../shared/session-cache.js';
import type { FetchContext, Fetched } from '../source.js';
import { alternativesOf } from '../shared/terms.js';
import { PAGE_SIZE, ask, nextMaxId, type Instance } from './ask.js';
import { parseTimeline, type StatusPage } from './parse.js';

/** One request for hashtags: posts with any of the tags, or with all of them. */
export interface TagQuery {
  tags: readonly string[];
  all: boolean;
}

// According to the documentation, the server uses four tags in addition to the first one. In fact it uses four in
// total, and ignores the rest (app/models/tag_feed.rb, LIMIT_PER_MODE).
const TAGS_PER_REQUEST = 4;
const UNUSED_MS = 3_600_000;
const UNUSED_KEPT = 5_000;

/**
 * Converts a phrase to a hashtag: joins its letters, digits and underscores in lower case. Undefined if nothing or only
 * digits remain.
 */
export function tagOf(phrase: string): string | undefined {
  const tag = phrase
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}_]/gu, '');
  return /[\p{L}_]/u.test(tag) ? tag : undefined;
}

/**
 * Returns the hashtag requests of a search. They ask for posts with any of the tags, and Earshot then matches these
 * posts. In mode `platform` Earshot does not match posts. So a request for a query and a term asks for posts with both
 * tags. There is no request if one of the two cannot be a hashtag.
 */
export function tagQueriesOf(criteria: Criteria, match: MatchMode): TagQuery[] {
  const alternatives = alternativesOf(criteria).map((phrases) => phrases.map(tagOf));
  if (match === 'platform' && alternatives.some((tags) => tags.length > 1)) {
    return alternatives.flatMap((tags) => {
      const known = tags.filter((tag) => tag !== undefined);
      return known.length === tags.length ? [{ tags: known, all: true }] : [];
    });
  }
  const tags = [...new Set(alternatives.flat().filter((tag) => tag !== undefined))];
  return groupsOf(tags).map((group) => ({ tags: group, all: false }));
}

/**
 * Reads hashtag timelines of an instance.
 * @param until posts before this time are not needed (epoch milliseconds)
 */
export async function readTags(
  queries: readonly TagQuery[],
  instance: Instance,
  context: FetchContext,
  until: number | undefined,
): Promise<Fetched> {
  const reads: Fetched[] = [];
  for (const query of queries) {
    const page = await firstPage(query, instance, context, until);
    reads.push(
      await readPages(page, {
        known: (itemId) => context.known(itemId),
        since: context.since,
        pageCap: context.pageCap,
      }),
    );
  }
  return merged(reads);
}

/**
 * If the instance has never seen the first tag, it returns no posts for the other tags either (tag_controller.rb). So
 * after an empty response the request is repeated without its first tag. For an hour, a tag without posts is put first
 * only if the other tags have none either. This avoids most empty responses.
 */
async function firstPage(
  { tags, all }: TagQuery,
  instance: Instance,
  context: FetchContext,
  until: number | undefined,
): Promise<Page> {
  const unused = sessionCache<number>(context, 'mastodon.unusedTags', UNUSED_KEPT);
  const keyOf = (tag: string) => `${instance.host} ${tag}`;
  const isUnused = (tag: string) => (unused.get(keyOf(tag)) ?? 0) > context.now.getTime();
  const [used, others] = [tags.filter((tag) => !isUnused(tag)), tags.filter(isUnused)];
  let order = [...used, ...others];
  for (;;) {
    const { page, empty } = await readPage({ tags: order, all }, instance, context, until);
    const [first, second] = order;
    if (!empty || all || first === undefined) return page;
    unused.set(keyOf(first), context.now.getTime() + UNUSED_MS);
    if (second === undefined || isUnused(second)) return page;
    order = order.slice(1);
  }
}

async function readPage(
  query: TagQuery,
  instance: Instance,
  context: FetchContext,
  until: number | undefined,
  maxId?: string,
): Promise<{ page: Page; empty: boolean }> {
  const path = pathOf(query, maxId);
  const { statuses, next } = await context.shared(`${instance.host}${path}`, async () => {
    const { body, response } = await ask(context, instance, path);
    const statuses = parseTimeline(body, { host: instance.host, now: context.now });
    return { statuses, next: nextMaxId(response, statuses.lastId) };
  });
  const more = next !== undefined && !isLastPage(statuses, until);
  return {
    empty: statuses.count === 0,
    page: {
      items: statuses.items,
      warnings: statuses.warnings,
      next: more ? async () => (await readPage(query, instance, context, until, next)).page : undefined,
    },
  };
}

/** True if no older page is needed: this page is empty, or its oldest status is not later than `until` (epoch ms). */
export function isLastPage({ count, oldestMs }: StatusPage, until: number | undefined): boolean {
  return count === 0 || (until !== undefined && oldestMs !== undefined && oldestMs <= until);
}

function pathOf({ tags, all }: TagQuery, maxId: string | undefined): string {
  const [first = '', ...others] = tags;
  const query = new URLSearchParams();
  for (const tag of others) query.append(all ? 'all[]' : 'any[]', tag);
  query.set('limit', String(PAGE_SIZE));
  if (maxId !== undefined) query.set('max_id', maxId);
  return `/api/v1/timelines/tag/${encodeURIComponent(first)}?${query}`;
}

function groupsOf(tags: readonly string[]): string[][] {
  const count = Math.ceil(tags.length / TAGS_PER_REQUEST);
  return Array.from({ length: count }, (_, n) =>
    tags.slice(n * TAGS_PER_REQUEST, (n + 1) * TAGS_PER_REQUEST),
  );
}
