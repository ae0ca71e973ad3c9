import { SPEC_NOW, fakeUpstream, type FakeAnswer } from '../testing/fake-upstream.js';
import { createRedditConnector, moderatedSubreddits } from './index.js';
import { serveSignIn } from './testing/fixtures.js';

const settings = { clientId: 'app', clientSecret: 's3cret' };

function lookup(body: object, status = 200) {
  const upstream = fakeUpstream('reddit', (request) => serveSignIn(request) ?? { status, body });
  const reading = moderatedSubreddits(
    'Ada Byron',
    { http: upstream.http, now: SPEC_NOW, session: new Map() },
    settings,
  );
  return { reading, upstream };
}

describe('the subreddits that a user moderates', () => {
  it('are read from the list', async () => {
    const row = { sr: 'lamps', name: 't5_1', title: 'All about lamps', subscribers: 12, over_18: false };
    const { reading, upstream } = lookup({ kind: 'ModeratedList', data: [row] });
    expect(await reading).toEqual([
      { name: 'lamps', title: 'All about lamps', subscribers: 12, isNsfw: false },
    ]);
    expect(upstream.requests[1]?.at.pathname).toBe('/user/Ada%20Byron/moderated_subreddits');
  });

  it('are an empty list if the answer is an empty object', async () => {
    expect(await lookup({}).reading).toEqual([]);
  });

  it.each([[{ data: [] }], [{ kind: 'ModeratedList' }], [{ kind: 'ModeratedList', data: [{ title: 'x' }] }]])(
    'cause a fault if the response has an unknown structure: %j',
    async (body) => {
      await expect(lookup(body).reading).rejects.toMatchObject({ kind: 'unknown_shape' });
    },
  );

  it('cause the fault `not_found` for an unknown user', async () => {
    await expect(lookup({ message: 'Not Found', error: 404 }, 404).reading).rejects.toMatchObject({
      kind: 'not_found',
    });
  });
});

describe('the lookup of the subreddits that a user moderates', () => {
  const LIST = '/user/Ada_Byron/moderated_subreddits';
  const ABOUT = '/user/Ada_Byron/about';
  function lookUp(answers: Record<string, FakeAnswer>, username = 'Ada_Byron') {
    const upstream = fakeUpstream(
      'reddit',
      (request) => serveSignIn(request) ?? answers[request.at.pathname] ?? { status: 404 },
    );
    const answer = createRedditConnector(settings).lookups?.['moderated']?.(
      { username },
      { http: upstream.http, now: SPEC_NOW, session: new Map() },
    );
    const paths = () => upstream.requests.slice(1).map(({ at }) => at.pathname);
    return { answer, paths };
  }
  const rows = (data: object[]) => ({ body: { kind: 'ModeratedList', data } });
  const lamps = { sr: 'lamps', title: 'All about lamps', subscribers: 12, over_18: true };

  it.each(['Ada_Byron', 'u/Ada_Byron', '/u/Ada_Byron', '@Ada_Byron'])(
    'finds the subreddits of %s',
    async (username) => {
      const { answer, paths } = lookUp({ [LIST]: rows([lamps]) }, username);
      expect(await answer).toEqual({
        kind: 'found',
        found: 1,
        body: {
          subreddits: [{ name: 'lamps', title: 'All about lamps', subscribers: 12, isNsfw: true }],
        },
      });
      expect(paths()).toEqual([LIST]);
    },
  );

  it('finds no subreddits for a user who moderates nothing', async () => {
    expect(await lookUp({ [LIST]: { body: {} } }).answer).toEqual({
      kind: 'found',
      found: 0,
      body: { subreddits: [] },
    });
  });

  it.each(['not a name', 'much_too_long_for_a_name', '', 'ada.b'])(
    'is refused without a request if "%s" cannot be a name',
    async (username) => {
      const { answer, paths } = lookUp({}, username);
      expect(await answer).toEqual({
        kind: 'refused',
        code: 'USER_NOT_FOUND',
        message: `There is no account "${username}" on reddit`,
      });
      expect(paths()).toEqual([]);
    },
  );

  const suspended = { body: { kind: 't2', data: { name: 'Ada_Byron', is_suspended: true } } };
  const notThere = { status: 404, body: { message: 'Not Found', error: 404 } };
  const forbidden = { status: 403, body: { message: 'Forbidden', error: 403 } };
  it.each([
    [notThere, notThere, 'USER_NOT_FOUND', 'There is no account "Ada_Byron" on reddit'],
    [forbidden, notThere, 'USER_NOT_FOUND', 'There is no account "Ada_Byron" on reddit'],
    [notThere, suspended, 'USER_SUSPENDED', 'The account "Ada_Byron" on reddit is suspended'],
    [forbidden, suspended, 'USER_SUSPENDED', 'The account "Ada_Byron" on reddit is suspended'],
  ])('is refused with the reason that reddit reports (%j, %j)', async (list, about, code, message) => {
    const { answer, paths } = lookUp({ [LIST]: list, [ABOUT]: about });
    expect(await answer).toEqual({ kind: 'refused', code, message });
    expect(paths()).toEqual([LIST, ABOUT]);
  });

  it.each([
    [notThere, { body: { kind: 't2', data: { name: 'Ada_Byron' } } }, 'not_found'],
    [forbidden, { body: { kind: 't2', data: { name: 'Ada_Byron' } } }, 'forbidden'],
    [forbidden, forbidden, 'forbidden'],
    [notThere, { status: 503 }, 'not_found'],
    [{ status: 500 }, suspended, 'server_error'],
    [{ body: { kind: 'Listing' } }, suspended, 'unknown_shape'],
  ])('fails if the list cannot be read for any other reason (%j, %j)', async (list, about, kind) => {
    await expect(lookUp({ [LIST]: list, [ABOUT]: about }).answer).rejects.toMatchObject({ kind });
  });
});
