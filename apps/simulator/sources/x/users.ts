import type { FastifyReply, FastifyRequest } from 'fastify';
import { answer, queryOf } from '../../context.js';
import type { World } from '../../world/world.js';
import type { SimPost } from '../../world/post.js';
import { accountIdOf, followsOf, stateOf, type Accounts } from './accounts.js';
import { problemOf, type Answers } from './answers.js';
import { readPage } from './pages.js';
import * as parameters from './parameters.js';
import { invalid } from './refusals.js';
import { rangeOf, timesOf } from './search.js';

/** Sends a response about the account with this handle. */
type RespondAbout = (handle: string, request: FastifyRequest, reply: FastifyReply) => FastifyReply;

/** `/2/users/…`: accounts, their tweets, their followers, and the accounts that they follow. */
export class Users {
  constructor(
    private readonly world: World,
    private readonly accounts: Accounts,
    private readonly answers: Answers,
  ) {}

  /** Answers `/2/users/by/username/:username`. */
  byName(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { username } = request.params as { username: string };
    const fault = parameters.faultOf('username', username, parameters.USERNAME);
    const faults = [...(fault ? [fault] : []), ...parameters.faultsOf(request, parameters.USER_PARAMETERS)];
    if (faults.length > 0) return invalid(reply, faults);
    const problem = problemOf(profileState(username), 'user', 'username', username);
    return problem
      ? answer(reply, 200, { errors: [problem] })
      : this.profile(this.accounts.spelled(username), request, reply);
  }

  /** Answers `/2/users/:id`. */
  byId(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return this.about(parameters.USER_PARAMETERS, profileState, request, reply, (...about) =>
      this.profile(...about),
    );
  }

  /** Answers `/2/users/:id/tweets`. */
  timeline(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return this.about(parameters.TIMELINE_PARAMETERS, stateOf, request, reply, (handle) => {
      const isWithin = timesOf(request);
      const excluded = queryOf(request).one('exclude')?.split(',') ?? [];
      const own = this.world
        .posts('x')
        .filter((post) => post.author.toLowerCase() === handle.toLowerCase() && isWithin(post))
        .filter((post) => !(excluded.includes('replies') && post.parent))
        .reverse();
      const paging = { prefix: '7140dibdnow9c7btw', idOf: ({ id }: SimPost) => id, size: 10, isTwoWay: true };
      const page = readPage(own, request, paging);
      if ('fault' in page) return invalid(reply, [page.fault]);
      const meta = { ...rangeOf(page.shown), ...page.meta };
      return answer(reply, 200, { ...this.answers.tweets(page.shown, request), meta });
    });
  }

  /** Answers `/2/users/:id/followers` and `/following`. */
  follows(which: 'followers' | 'following', request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return this.about(parameters.FOLLOWS_PARAMETERS, stateOf, request, reply, (handle) => {
      const paging = { prefix: 'ht6v', idOf: accountIdOf, size: 100, isTwoWay: true };
      const page = readPage(followsOf(handle, which), request, paging);
      if ('fault' in page) return invalid(reply, [page.fault]);
      const data = page.shown.map((each) => this.answers.user(each, request));
      return answer(reply, 200, { ...(data.length > 0 && { data }), meta: page.meta });
    });
  }

  private profile(handle: string, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return answer(reply, 200, { data: this.answers.user(handle, request) });
  }

  /** Responds about the account whose number is in the path, if its state makes it visible. */
  private about(
    known: parameters.Parameters,
    stateFor: typeof stateOf,
    request: FastifyRequest,
    reply: FastifyReply,
    respond: RespondAbout,
  ): FastifyReply {
    const { id } = request.params as { id: string };
    const fault = parameters.faultOf('id', id, parameters.PATH_ID);
    const faults = [...(fault ? [fault] : []), ...parameters.faultsOf(request, known)];
    if (faults.length > 0) return invalid(reply, faults);
    const handle = this.accounts.handleOf(id);
    const problem = problemOf(handle === undefined ? 'missing' : stateFor(handle), 'user', 'id', id);
    return problem || handle === undefined
      ? answer(reply, 200, { errors: [problem] })
      : respond(handle, request, reply);
  }
}

/**
 * Returns the state of an account for a request for its profile: the profile of a protected account is visible to all.
 */
function profileState(handle: string): ReturnType<typeof stateOf> {
  const state = stateOf(handle);
  return state === 'protected' ? 'open' : state;
}
