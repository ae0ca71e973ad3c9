import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answer, queryOf, RequestWindow } from '../../context.js';
import type { SimContext } from '../../context.js';
import { TRAITS } from '../../world/traits.js';
import type { SimPost } from '../../world/post.js';
import { discussionPage } from './discussions.js';
import { githubQuery } from './query.js';
import type { GithubQuery } from './query.js';
import { repositoryOf } from './repositories.js';
import { issueOf, nodeIdOf, repositoryNameOf } from './items.js';
import { GraphqlFault, readSelections, selected, unknownField } from '../shared/graphql.js';
import type { Selection } from '../shared/graphql.js';
import type { SimulatedSource } from '../simulated-source.js';

const API = 'https://api.github.com';
const DOCS = 'https://docs.github.com';
const LIMITS = `${DOCS}/rest/using-the-rest-api/rate-limits-for-the-rest-api`;
const MAX_RESULTS = 1000;
const MAX_PAGE_SIZE = 100;
const GRAPHQL_POINTS = 5000;
const SERVED = { config: { source: 'github' as const } };

/**
 * GitHub's search of issues, pull requests and repositories, and of discussions by GraphQL. The kind of a post
 * determines which search finds the post. The community of an issue, pull request or discussion is its repository.
 */
export const githubSource: SimulatedSource = {
  routes,
  itemIdOf: nodeIdOf,
  refuse(reply, status) {
    switch (status) {
      case 401:
        return refusal(reply, 401, 'Bad credentials', `${DOCS}/rest`);
      case 403:
        return refusal(
          reply,
          403,
          'Resource not accessible by personal access token',
          `${DOCS}/rest/search/search`,
        );
      case 404:
        return refusal(reply, 404, 'Not Found', `${DOCS}/rest`);
      case 410:
        return refusal(reply, 410, 'This feature has been removed', `${DOCS}/rest`);
      case 429:
        return refusal(
          reply,
          429,
          'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
          `${LIMITS}#about-secondary-rate-limits`,
        );
      case 503:
        return reply
          .code(503)
          .type('text/html; charset=utf-8')
          .send(
            '<html><body><h1>503 Service Unavailable</h1>No server is available to handle this request.</body></html>',
          );
      default:
        return answer(reply, status, { message: 'Server Error' });
    }
  },
};

type Caller = 'nobody' | 'account';

function routes(app: FastifyInstance, context: SimContext): void {
  const { clock, limits, world } = context;
  const windows = {
    account: new RequestWindow(clock, limits.github, 60),
    nobody: new RequestWindow(clock, Math.ceil(limits.github / 3), 60),
    graphql: new RequestWindow(clock, GRAPHQL_POINTS, 3600),
  };
  const search =
    (what: SearchKind) =>
    (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
      const caller = callerOf(request, reply);
      if (!caller) return reply;
      if (!counted(windows[caller], 'search', caller, reply)) return reply;
      return answerSearch(what, world.posts('github'), request, reply);
    };
  app.get('/search/issues', SERVED, search(ISSUES));
  app.get('/search/repositories', SERVED, search(REPOSITORIES));
  app.post('/graphql', SERVED, (request, reply) => {
    const caller = callerOf(request, reply);
    if (!caller) return reply;
    if (caller === 'nobody') {
      const path = '/graphql/guides/forming-calls-with-graphql#authentication';
      return refusal(reply, 401, 'This endpoint requires you to be authenticated.', DOCS + path);
    }
    if (!counted(windows.graphql, 'graphql', caller, reply)) return reply;
    return answerGraphql(world.posts('github'), request, reply);
  });
}

/** Returns the caller. Refuses a request without a User-Agent or with a wrong token, and returns undefined. */
function callerOf(request: FastifyRequest, reply: FastifyReply): Caller | undefined {
  if (!request.headers['user-agent']) {
    const message =
      'Missing or invalid User Agent string. See http://developer.github.com/v3/#user-agent-required';
    answer(reply, 403, { message });
    return undefined;
  }
  const { authorization } = request.headers;
  if (authorization === undefined) return 'nobody';
  const token = /^(?:bearer|token) (.*)$/i.exec(authorization)?.[1] ?? '';
  if (token !== '' && token !== 'wrong') return 'account';
  refusal(reply, 401, 'Bad credentials', `${DOCS}/rest`);
  return undefined;
}

/** Counts the request and sets the headers; returns false if the request was refused. */
function counted(window: RequestWindow, resource: string, caller: Caller, reply: FastifyReply): boolean {
  const within = window.take();
  void reply
    .header('X-RateLimit-Limit', window.limit)
    .header('X-RateLimit-Remaining', window.remaining)
    .header('X-RateLimit-Reset', Math.ceil(window.resetsAt / 1000))
    .header('X-RateLimit-Used', window.used)
    .header('X-RateLimit-Resource', resource);
  if (within) return true;
  const message =
    caller === 'account'
      ? 'API rate limit exceeded for user ID 1.'
      : "API rate limit exceeded for 127.0.0.1. (But here's the good news: Authenticated requests get a higher rate limit. Check out the documentation for more details.)";
  refusal(reply, 403, message, LIMITS);
  return false;
}

/** The properties of a search: the search of issues, or the search of repositories. */
interface SearchKind {
  path: string;
  kinds: readonly SimPost['kind'][];
  syntax: 'advanced' | 'plain';
  sorts: readonly string[];
  show(post: SimPost): object;
}

const ISSUES: SearchKind = {
  path: '/search/issues',
  kinds: ['issue', 'pull_request'],
  syntax: 'advanced',
  sorts: ['created', 'updated'],
  show: issueOf,
};
const REPOSITORIES: SearchKind = {
  path: '/search/repositories',
  kinds: ['repository'],
  syntax: 'plain',
  // `updated` is the time of the last update. In the simulator, it is always the creation time.
  sorts: ['updated'],
  show: repositoryOf,
};

function answerSearch(
  what: SearchKind,
  posts: readonly SimPost[],
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { one } = queryOf(request);
  const q = one('q')?.trim() ?? '';
  if (q === '') return invalid(reply, { resource: 'Search', field: 'q', code: 'missing' });
  const query = githubQuery(q, what.syntax);
  const fault = query.fault ?? placeFault(query, posts);
  if (fault !== undefined)
    return invalid(reply, { message: fault, resource: 'Search', field: 'q', code: 'invalid' });
  if (what === ISSUES && !query.namesKind) {
    const docs = `${DOCS}/rest/search/search#search-issues-and-pull-requests`;
    return refusal(reply, 422, "Query must include 'is:issue' or 'is:pull-request'", docs);
  }
  const perPage = Math.min(MAX_PAGE_SIZE, wholeFrom(one('per_page'), 30));
  const page = wholeFrom(one('page'), 1);
  if ((page - 1) * perPage >= MAX_RESULTS)
    return refusal(reply, 422, 'Only the first 1000 search results are available', `${DOCS}/v3/search/`);

  const found = posts.filter((post) => what.kinds.includes(post.kind) && query.matches(post));
  if (!what.sorts.includes(one('sort') ?? '')) found.sort((a, b) => a.score - b.score);
  if (one('order') !== 'asc') found.reverse();
  const link = linkOf(what.path, request, page, Math.ceil(Math.min(found.length, MAX_RESULTS) / perPage));
  if (link !== '') void reply.header('Link', link);
  void reply
    .header('X-GitHub-Media-Type', 'github.v3; format=json')
    .header('X-GitHub-Api-Version-Selected', '2022-11-28');
  return answer(reply, 200, {
    total_count: found.length,
    incomplete_results: false,
    items: found.slice((page - 1) * perPage, Math.min(MAX_RESULTS, page * perPage)).map(what.show),
  });
}

/** Returns the refusal of a search that names repositories or accounts of which none exists; otherwise undefined. */
function placeFault({ places }: GithubQuery, posts: readonly SimPost[]): string | undefined {
  if (places.length === 0) return undefined;
  const names = [...(TRAITS.github.communities ?? []), ...posts.map(repositoryNameOf)].map((name) =>
    name.toLowerCase(),
  );
  const isThere = (place: string) => {
    const [key, name = ''] = [place.slice(0, place.indexOf(':')), place.slice(place.indexOf(':') + 1)];
    return names.some((each) => (key === 'repo' ? each === name : each.startsWith(`${name}/`)));
  };
  if (places.some(isThere)) return undefined;
  return 'The listed users and repositories cannot be searched either because the resources do not exist or you do not have permission to view them.';
}

function linkOf(path: string, request: FastifyRequest, page: number, last: number): string {
  const to = (rel: string, number: number) => {
    const query = new URLSearchParams(request.url.split('?')[1] ?? '');
    query.set('page', String(number));
    return `<${API}${path}?${query}>; rel="${rel}"`;
  };
  return [
    ...(page > 1 ? [to('prev', page - 1)] : []),
    ...(page < last ? [to('next', page + 1), to('last', last)] : []),
    ...(page > 1 ? [to('first', 1)] : []),
  ].join(', ');
}

function answerGraphql(
  posts: readonly SimPost[],
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { query, variables } = (request.body ?? {}) as { query?: unknown; variables?: object | null };
  if (typeof query !== 'string')
    return refusal(
      reply,
      400,
      'A query attribute must be specified and must be a string.',
      `${DOCS}/graphql`,
    );
  void reply.header('X-GitHub-Media-Type', 'github.v4; format=json');
  try {
    const fields = readSelections(query, { ...variables });
    const data = Object.fromEntries(fields.map((field) => [field.key, rootField(field, posts)]));
    return answer(reply, 200, { data });
  } catch (error) {
    if (!(error instanceof GraphqlFault)) throw error;
    // An error of execution has a type, and `data` is null.
    return answer(reply, 200, { ...('type' in error.more && { data: null }), errors: [error.entry] });
  }
}

function rootField({ name, args, fields }: Selection, posts: readonly SimPost[]): object {
  if (name !== 'search') throw unknownField(name, 'Query');
  if (args.type !== 'DISCUSSION') {
    throw new GraphqlFault(
      `Argument 'type' on Field 'search' has an invalid value (${String(args.type)}). Expected type 'SearchType!'.`,
    );
  }
  const query = githubQuery(typeof args.query === 'string' ? args.query : '', 'plain');
  const found = posts.filter((post) => post.kind === 'discussion' && query.matches(post));
  if (query.sort === undefined) found.sort((a, b) => a.score - b.score);
  if (!query.sort?.endsWith('-asc')) found.reverse();
  return selected(fields, discussionPage(found, args));
}

function invalid(reply: FastifyReply, error: object): FastifyReply {
  return answer(reply, 422, {
    message: 'Validation Failed',
    errors: [error],
    documentation_url: `${DOCS}/v3/search/`,
    status: '422',
  });
}

function refusal(reply: FastifyReply, status: number, message: string, documentation: string): FastifyReply {
  return answer(reply, status, { message, documentation_url: documentation, status: String(status) });
}

function wholeFrom(text: string | undefined, otherwise: number): number {
  const value = Number(text ?? otherwise);
  return Number.isInteger(value) && value >= 1 ? value : otherwise;
}
