import type { FastifyRequest } from 'fastify';
import { queryOf } from '../../context.js';
import type { World } from '../../world/world.js';
import type { SimPost } from '../../world/post.js';
import { accountIdOf, profileOf, stateOf, type Accounts, type AccountState } from './accounts.js';
import { addresseeOf } from './text.js';
import { PROBLEMS } from './refusals.js';
import { mediaOf, referencesOf, tweetOf } from './tweets.js';

/** Why a requested object, or an object to which it refers, is missing in the response. */
export interface Problem {
  value: string;
  resource_id: string;
  parameter: string;
  resource_type: 'tweet' | 'user';
  detail: string;
  title: string;
  type: string;
  section?: 'data' | 'includes';
}

/** Returns the problem of an object that X does not show; undefined if the account is open. */
export function problemOf(
  state: AccountState,
  resource_type: Problem['resource_type'],
  parameter: string,
  value: string,
  section: 'data' | 'includes' = 'data',
): Problem | undefined {
  const about = { value, resource_id: value, parameter, resource_type };
  const missing = `${PROBLEMS}resource-not-found`;
  switch (state) {
    case 'open':
      return undefined;
    case 'missing':
      return {
        ...about,
        detail: `Could not find ${resource_type} with ${parameter}: [${value}].`,
        title: 'Not Found Error',
        type: missing,
      };
    case 'suspended':
      return { ...about, detail: `User has been suspended: [${value}].`, title: 'Forbidden', type: missing };
    case 'protected': {
      const what = resource_type === 'tweet' ? 'Tweet' : 'user';
      return {
        ...about,
        section,
        detail: `Sorry, you are not authorized to see the ${what} with ${parameter}: [${value}].`,
        title: 'Authorization Error',
        type: `${PROBLEMS}not-authorized-for-resource`,
      };
    }
  }
}

/** Builds responses: tweets and accounts with the requested fields, and the objects to which tweets refer. */
export class Answers {
  constructor(
    private readonly world: World,
    private readonly accounts: Accounts,
  ) {}

  /**
   * Returns the keys `data`, `includes` and `errors` for these tweets.
   * @param errors problems that are already known
   */
  tweets(posts: readonly SimPost[], request: FastifyRequest, errors: readonly Problem[] = []): object {
    const asked = parseRequest(request);
    for (const { author } of posts) this.accounts.show(author);
    const problems = new Map(errors.map((problem) => [problem.value, problem]));
    const includes = this.includesOf(posts, asked, problems);
    return {
      ...(posts.length > 0 && { data: posts.map((post) => chosen(tweetOf(post), asked.tweet)) }),
      ...(Object.keys(includes).length > 0 && { includes }),
      ...(problems.size > 0 && { errors: [...problems.values()] }),
    };
  }

  /** Returns an account with the requested fields. */
  user(handle: string, request: FastifyRequest): object {
    this.accounts.show(handle);
    return chosen(profileOf(handle), parseRequest(request).user);
  }

  private includesOf(posts: readonly SimPost[], asked: ParsedRequest, problems: Map<string, Problem>) {
    const expands = (what: string) => asked.expansions.includes(what);
    const referenced = expands('referenced_tweets.id') || expands('referenced_tweets.id.author_id');
    const tweets = referenced ? this.referredTo(posts, problems) : [];
    const handles = [
      ...(expands('author_id') ? posts.map(({ author }) => author) : []),
      ...(expands('referenced_tweets.id.author_id') ? tweets.map(({ author }) => author) : []),
      ...(expands('in_reply_to_user_id')
        ? [...posts, ...tweets].flatMap((post) => addresseeOf(post) ?? [])
        : []),
    ];
    const shown = [...new Set(handles)].filter((handle) => {
      const state = stateOf(handle);
      const id = accountIdOf(handle);
      const problem = problemOf(state === 'protected' ? 'open' : state, 'user', 'in_reply_to_user_id', id);
      if (problem) problems.set(id, problem);
      return !problem;
    });
    const media = expands('attachments.media_keys')
      ? posts.map(mediaOf).filter((each) => each !== undefined)
      : [];
    for (const handle of shown) this.accounts.show(handle);
    return {
      ...(shown.length > 0 && { users: shown.map((handle) => chosen(profileOf(handle), asked.user)) }),
      ...(tweets.length > 0 && { tweets: tweets.map((post) => chosen(tweetOf(post), asked.tweet)) }),
      ...(media.length > 0 && { media: media.map((each) => chosen(each, asked.media)) }),
    };
  }

  /** Returns the tweets to which these posts refer, without duplicates. A tweet that cannot be shown adds a problem. */
  private referredTo(posts: readonly SimPost[], problems: Map<string, Problem>): SimPost[] {
    const ids = new Set(posts.flatMap((post) => referencesOf(post).map(({ id }) => id)));
    return [...ids].flatMap((id) => {
      const post = this.world.find('x', id);
      const state = post ? stateOf(post.author) : 'missing';
      const reportedState = state === 'suspended' ? 'missing' : state;
      const problem = problemOf(reportedState, 'tweet', 'referenced_tweets.id', id, 'includes');
      if (problem) problems.set(id, problem);
      return post && !problem ? [post] : [];
    });
  }
}

/** The requested fields and expansions. */
interface ParsedRequest {
  tweet: ReadonlySet<string>;
  user: ReadonlySet<string>;
  media: ReadonlySet<string>;
  expansions: readonly string[];
}

// The field that an expansion adds.
const FIELD_OF: Record<string, string> = {
  author_id: 'author_id',
  in_reply_to_user_id: 'in_reply_to_user_id',
  'attachments.media_keys': 'attachments',
  'referenced_tweets.id': 'referenced_tweets',
  'referenced_tweets.id.author_id': 'referenced_tweets',
};

function parseRequest(request: FastifyRequest): ParsedRequest {
  const { all } = queryOf(request);
  const list = (key: string) => all(key).flatMap((text) => text.split(','));
  const expansions = list('expansions');
  const followed = expansions.flatMap((name) => FIELD_OF[name] ?? []);
  return {
    tweet: new Set(['id', 'text', 'edit_history_tweet_ids', ...followed, ...list('tweet.fields')]),
    user: new Set(['id', 'name', 'username', ...list('user.fields')]),
    media: new Set(['media_key', 'type', ...list('media.fields')]),
    expansions,
  };
}

function chosen(whole: Record<string, unknown>, fields: ReadonlySet<string>): object {
  return Object.fromEntries(Object.entries(whole).filter(([key]) => fields.has(key)));
}
