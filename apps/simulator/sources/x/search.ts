import type { FastifyReply, FastifyRequest } from 'fastify';
import { answer, queryOf } from '../../context.js';
import type { SimContext } from '../../context.js';
import type { SimPost } from '../../world/post.js';
import { stateOf } from './accounts.js';
import type { Answers } from './answers.js';
import { readPage } from './pages.js';
import { faultsOf, SEARCH_PARAMETERS, type ParameterFault } from './parameters.js';
import { xQuery } from './query.js';
import { invalid } from './refusals.js';

const REACH_MS = 7 * 86_400_000;
/** The times in a request must be at least this long before the request. */
const MARGIN_MS = 10_000;
const EPOCH_MS = 1_288_834_974_657;

/**
 * Answers `/2/tweets/search/recent` with tweets of the last seven days, newest first, or by score if `sort_order` is
 * `relevancy`. Unlike the real search, it also finds tweets of the last half minute.
 */
export function searchTweets(
  { world, clock }: SimContext,
  answers: Answers,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const now = clock.now().getTime();
  const faults = faultsOf(request, SEARCH_PARAMETERS, ['query']);
  if (faults.length === 0) faults.push(...timeFaults(request, now));
  if (faults.length > 0) return invalid(reply, faults);
  const { one } = queryOf(request);
  const text = one('query') ?? '';
  const query = xQuery(text);
  if ('refusal' in query) return invalid(reply, [{ parameters: { query: [text] }, message: query.refusal }]);

  const isWithin = timesOf(request);
  const found: SimPost[] = [];
  const posts = world.posts('x');
  for (let i = posts.length - 1; i >= 0 && posts[i]!.publishedAt > now - REACH_MS; i--) {
    const post = posts[i]!;
    if (stateOf(post.author) === 'open' && isWithin(post) && query.matches(post)) found.push(post);
  }
  if (one('sort_order') === 'relevancy') found.sort((a, b) => b.score - a.score);
  const page = readPage(found, request, {
    prefix: 'b26v89c19zqg8o3f',
    idOf: ({ id }) => id,
    size: 10,
    isTwoWay: false,
  });
  if ('fault' in page) return invalid(reply, [page.fault]);
  const meta = { ...rangeOf(page.shown), ...page.meta };
  return answer(reply, 200, { ...answers.tweets(page.shown, request), meta });
}

/** Returns a function that tests whether a tweet is between the times and the ids of a request. */
export function timesOf(request: FastifyRequest): (post: SimPost) => boolean {
  const { one } = queryOf(request);
  const at = (name: string) => Date.parse(one(name) ?? '');
  const [start, end] = [at('start_time'), at('end_time')];
  const [since, until] = [one('since_id'), one('until_id')].map((id) => id && BigInt(id));
  return ({ id, publishedAt }) =>
    !(publishedAt < start) &&
    !(publishedAt >= end) &&
    (!since || BigInt(id) > since) &&
    (!until || BigInt(id) < until);
}

/** Returns the ids of the newest and the oldest tweet of a page, for its `meta`. */
export function rangeOf(shown: readonly SimPost[]): { newest_id?: string; oldest_id?: string } {
  const ids = shown.map(({ id }) => id).sort((a, b) => (BigInt(a) < BigInt(b) ? 1 : -1));
  return ids[0] === undefined ? {} : { newest_id: ids[0], oldest_id: ids.at(-1)! };
}

/**
 * Returns a fault for each time that is more than seven days or less than `MARGIN_MS` before the request, and for a
 * `since_id` that is older than seven days.
 */
function timeFaults(request: FastifyRequest, now: number): ParameterFault[] {
  const { one } = queryOf(request);
  const earliest = now - REACH_MS;
  const [since = ''] = [one('since_id')];
  const faults: ParameterFault[] = [];
  const add = (name: string, message: string) =>
    faults.push({
      parameters: { [name]: [one(name) ?? ''] },
      message: `Invalid '${name}':'${one(name)}'. ${message}`,
    });
  for (const name of ['start_time', 'end_time']) {
    const at = Date.parse(one(name) ?? '');
    if (at < earliest) add(name, `'${name}' must be on or after [${new Date(earliest).toISOString()}].`);
    if (at > now - MARGIN_MS)
      add(name, `'${name}' must be a minimum of 10 seconds prior to the request time.`);
  }
  if (since !== '' && Number(BigInt(since) >> 22n) + EPOCH_MS < earliest)
    add('since_id', "'since_id' must be a tweet id created after the last 7 days have begun.");
  return faults;
}
