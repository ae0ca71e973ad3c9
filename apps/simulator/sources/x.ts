import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answer, queryOf, RequestWindow } from '../context.js';
import type { SimContext } from '../context.js';
import type { SimPost } from '../world/world.js';
import type { SourceVoice } from './voice.js';
import { accountIdOf, Accounts, followsOf, stateOf } from './x-accounts.js';
import { Answers, problemOf, type Problem } from './x-answers.js';
import * as parameters from './x-parameters.js';
import { readPage } from './x-pages.js';
import { invalid, refuse } from './x-refusals.js';
import { rangeOf, searchTweets, timesOf } from './x-search.js';

const WINDOW_SECONDS = 900;
const SERVED = { config: { source: 'x' as const } };

/**
 * X's API v2 as an application sees it: `/2/tweets/search/recent`, tweets by their ids, accounts by name or number,
 * and the tweets, followers and followed of an account. What an account is, its handle says: see `stateOf`.
 */
export const xVoice: SourceVoice = { routes, refuse };

type Respond = (request: FastifyRequest, reply: FastifyReply) => FastifyReply;

function routes(app: FastifyInstance, context: SimContext): void {
  const { world } = context;
  const accounts = new Accounts(world);
  const answers = new Answers(world, accounts);
  const guarded = (respond: Respond) => guard(context, respond);

  app.get(
    '/2/tweets/search/recent',
    SERVED,
    guarded((request, reply) => searchTweets(context, answers, request, reply)),
  );
  app.get(
    '/2/tweets',
    SERVED,
    guarded((request, reply) => {
      const faults = parameters.faultsOf(request, parameters.TWEETS_PARAMETERS, ['ids']);
      if (faults.length > 0) return invalid(reply, faults);
      const ids = [...new Set(queryOf(request).one('ids')?.split(','))];
      const errors: Problem[] = [];
      const found = ids.flatMap((id) => {
        const post = world.find('x', id);
        const problem = problemOf(post ? stateOf(post.author) : 'missing', 'tweet', 'ids', id);
        if (problem) errors.push(problem);
        return post && !problem ? [post] : [];
      });
      return answer(reply, 200, answers.tweets(found, request, errors));
    }),
  );
  userRoutes(app, { context, accounts, answers, guarded });
}

interface Shared {
  context: SimContext;
  accounts: Accounts;
  answers: Answers;
  guarded(respond: Respond): Respond;
}

function userRoutes(app: FastifyInstance, { context, accounts, answers, guarded }: Shared): void {
  const { world } = context;
  app.get(
    '/2/users/by/username/:username',
    SERVED,
    guarded((request, reply) => {
      const { username } = request.params as { username: string };
      const fault = parameters.faultOf('username', username, parameters.USERNAME);
      const faults = [...(fault ? [fault] : []), ...parameters.faultsOf(request, parameters.USER_PARAMETERS)];
      if (faults.length > 0) return invalid(reply, faults);
      const state = stateOf(username);
      // The profile of a protected account is open to all.
      const problem = problemOf(state === 'protected' ? 'open' : state, 'user', 'username', username);
      if (problem) return answer(reply, 200, { errors: [problem] });
      return answer(reply, 200, { data: answers.user(accounts.spelled(username), request) });
    }),
  );
  /** An endpoint about the account of the path, which must be there. */
  const about = (
    known: parameters.Parameters,
    isProfile: boolean,
    respond: (handle: string, request: FastifyRequest, reply: FastifyReply) => FastifyReply,
  ) =>
    guarded((request, reply) => {
      const { id } = request.params as { id: string };
      const fault = parameters.faultOf('id', id, parameters.PATH_ID);
      const faults = [...(fault ? [fault] : []), ...parameters.faultsOf(request, known)];
      if (faults.length > 0) return invalid(reply, faults);
      const handle = accounts.handleOf(id);
      const state = handle === undefined ? 'missing' : stateOf(handle);
      const problem = problemOf(isProfile && state === 'protected' ? 'open' : state, 'user', 'id', id);
      return problem || handle === undefined
        ? answer(reply, 200, { errors: [problem] })
        : respond(handle, request, reply);
    });

  app.get(
    '/2/users/:id',
    SERVED,
    about(parameters.USER_PARAMETERS, true, (handle, request, reply) =>
      answer(reply, 200, { data: answers.user(handle, request) }),
    ),
  );
  app.get(
    '/2/users/:id/tweets',
    SERVED,
    about(parameters.TIMELINE_PARAMETERS, false, (handle, request, reply) => {
      const isWithin = timesOf(request);
      const excluded = queryOf(request).one('exclude')?.split(',') ?? [];
      const own = world
        .posts('x')
        .filter((post) => post.author.toLowerCase() === handle.toLowerCase() && isWithin(post))
        .filter((post) => !(excluded.includes('replies') && post.parent))
        .reverse();
      const paging = { prefix: '7140dibdnow9c7btw', idOf: ({ id }: SimPost) => id, size: 10, isTwoWay: true };
      const page = readPage(own, request, paging);
      if ('fault' in page) return invalid(reply, [page.fault]);
      const meta = { ...rangeOf(page.shown), ...page.meta };
      return answer(reply, 200, { ...answers.tweets(page.shown, request), meta });
    }),
  );
  for (const which of ['followers', 'following'] as const) {
    app.get(
      `/2/users/:id/${which}`,
      SERVED,
      about(parameters.FOLLOWS_PARAMETERS, false, (handle, request, reply) => {
        const paging = { prefix: 'ht6v', idOf: accountIdOf, size: 100, isTwoWay: true };
        const page = readPage(followsOf(handle, which), request, paging);
        if ('fault' in page) return invalid(reply, [page.fault]);
        const data = page.shown.map((each) => answers.user(each, request));
        return answer(reply, 200, { ...(data.length > 0 && { data }), meta: page.meta });
      }),
    );
  }
}

/** Asks for a token, and counts requests: each endpoint has a window of its own. */
function guard({ clock, limits }: SimContext, respond: Respond): Respond {
  const window = new RequestWindow(clock, limits.x, WINDOW_SECONDS);
  return (request, reply) => {
    const token = /^bearer\s+(.*)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (token === '' || token === 'wrong') return refuse(reply, 401, 'Unauthorized');
    const within = window.take();
    void reply.header('x-rate-limit-limit', window.limit);
    void reply.header('x-rate-limit-remaining', window.remaining);
    void reply.header('x-rate-limit-reset', Math.ceil(window.resetsAt / 1000));
    return within ? respond(request, reply) : refuse(reply, 429, 'Too Many Requests');
  };
}
