import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answer, queryOf, RequestWindow } from '../../context.js';
import type { SimContext } from '../../context.js';
import type { SimulatedSource } from '../simulated-source.js';
import { Accounts, stateOf } from './accounts.js';
import { Answers, problemOf, type Problem } from './answers.js';
import { faultsOf, TWEETS_PARAMETERS } from './parameters.js';
import { invalid, refuse } from './refusals.js';
import { searchTweets } from './search.js';
import { Users } from './users.js';

const WINDOW_SECONDS = 900;
const SERVED = { config: { source: 'x' as const } };

/**
 * X's API v2 for an application: `/2/tweets/search/recent`, tweets by their ids, accounts by name or number, and the
 * tweets, followers and followed accounts of an account. The state of an account depends on its handle: see `stateOf`.
 */
export const xSource: SimulatedSource = { routes, refuse };

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
      const faults = faultsOf(request, TWEETS_PARAMETERS, ['ids']);
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
  const users = new Users(world, accounts, answers);
  const user = (path: string, respond: Respond) => app.get(`/2/users/${path}`, SERVED, guarded(respond));
  user('by/username/:username', (request, reply) => users.byName(request, reply));
  user(':id', (request, reply) => users.byId(request, reply));
  user(':id/tweets', (request, reply) => users.timeline(request, reply));
  user(':id/followers', (request, reply) => users.follows('followers', request, reply));
  user(':id/following', (request, reply) => users.follows('following', request, reply));
}

/** Requires a token, and counts requests: each endpoint has its own window. */
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
