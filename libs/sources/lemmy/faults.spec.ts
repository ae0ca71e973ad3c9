import {
  SPEC_NOW,
  criteriaOf,
  fakeContext,
  fakeUpstream,
  type FakeAnswer,
} from '../testing/fake-upstream.js';
import { createLemmyConnector } from './index.js';
import { servePosts, serveSite } from './testing/fixtures.js';
import { NOTHING, connector, read } from './testing/search.js';

describe('faults of Lemmy:', () => {
  it.each([
    [400, 'rate_limit_error', 'rate_limited', 'lemmy answered 400: too many requests, asked to wait'],
    [
      400,
      'couldnt_find_community',
      'not_found',
      'lemmy answered 400: lemmy.world knows no such community; check filters.community',
    ],
    [
      400,
      'instance_is_private',
      'unauthorized',
      'lemmy answered 400: the server shows its posts only to its own accounts; set SOURCE_LEMMY_TOKEN',
    ],
    [
      400,
      'invalid_query',
      'unexpected_status',
      'lemmy answered 400 (invalid_query): the request was not understood',
    ],
    [400, '<b>', 'unexpected_status', 'lemmy answered 400: the request was not understood'],
    [
      404,
      'couldnt_find_post',
      'not_found',
      'lemmy answered 404: this address does not exist; check the names and addresses in the search',
    ],
  ])('status %i with the error `%s` has the kind "%s"', async (status, error, kind, message) => {
    const reading = read({ query: 'lamp' }, { answer: () => ({ status, body: { error } }) });
    await expect(reading).rejects.toMatchObject({ kind, message, statusCode: status });
  });

  it('the error of a refused token names the setting to check', async () => {
    const signedIn = createLemmyConnector({ instance: '', token: 'jwt-1' });
    const answer = () => ({ status: 401, body: { error: 'not_logged_in' } });
    await expect(read({ query: 'lamp' }, { answer }, signedIn)).rejects.toMatchObject({
      message: 'lemmy answered 401: the token was not accepted; check SOURCE_LEMMY_TOKEN',
    });
  });

  it('the lane waits if the server of the settings (here lemmy.world) asks Earshot to wait, even if another server answers', async () => {
    const busy: FakeAnswer = { status: 400, body: { error: 'rate_limit_error' } };
    const upstream = fakeUpstream(
      'lemmy',
      (request) =>
        serveSite('0.19.20', request) ?? (request.at.host === 'light.example' ? { body: NOTHING } : busy),
    );
    const filters = { instances: ['lemmy.world', 'light.example'] };
    const reading = connector.search(criteriaOf({ query: 'lamp', filters }), fakeContext(upstream.http));
    const reason = 'lemmy answered 400: too many requests, asked to wait';
    expect((await reading).warnings).toEqual([reason]);
    expect(upstream.heldOff).toEqual([{ waitMs: 30_000, reason }]);
  });

  it('a server of `filters.instances` that asks Earshot to wait delays only the requests to this server', async () => {
    const session = new Map<string, unknown>();
    const filters = { instances: ['lemmy.world', 'light.example'] };
    const init = { query: 'lamp', filters };
    const answer = (_: string, host: string): FakeAnswer =>
      host === 'light.example' ? { status: 400, body: { error: 'rate_limit_error' } } : { body: NOTHING };
    await read(init, { answer, more: { session } });
    const { fetched, requests } = await read({ ...init, query: 'light' }, { answer, more: { session } });
    expect(requests.map(({ at }) => at.host)).toEqual(['lemmy.world']);
    expect(fetched.warnings).toEqual([
      'lemmy on light.example: it asked Earshot to wait; its next request is in 30 s',
    ]);
  });

  it('one of several servers causes only a warning if it fails', async () => {
    const filters = { instances: ['light.example', 'lamps.example'] };
    const { fetched } = await read(
      { query: 'lamp', filters },
      { answer: (_, host) => (host === 'light.example' ? { status: 500 } : { body: NOTHING }) },
    );
    expect(fetched.warnings).toEqual([
      'lemmy on light.example: lemmy answered 500: the upstream failed; Earshot tries again later',
    ]);
  });

  it('the next read of a server that failed also covers the period of the failed read', async () => {
    const state = {};
    let isDown = true;
    const hour = (n: number) => new Date(SPEC_NOW.getTime() + n * 3_600_000);
    const posts = Array.from({ length: 200 }, (_, n) => ({
      n,
      at: new Date(hour(1).getTime() - n * 60_000),
    }));
    const upstream = fakeUpstream('lemmy', (request) => {
      if (request.at.host === 'light.example' && isDown) return { status: 503 };
      const site = serveSite('0.19.20', request);
      if (site) return site;
      return request.at.host === 'light.example' ? servePosts('v3', posts, request) : { body: NOTHING };
    });
    const criteria = criteriaOf({
      query: 'lamp',
      filters: { instances: ['light.example', 'lamps.example'] },
    });
    const search = (now: Date, since: Date) =>
      connector.search(criteria, fakeContext(upstream.http, { now, since, state }));
    await search(hour(0), hour(-1));
    isDown = false;
    // The period of each read begins five minutes before the time of the previous read.
    const { items } = await search(hour(1), hour(-1 / 12));
    const from = hour(-1).toISOString();
    expect(items.filter(({ publishedAt = '' }) => publishedAt > from).length).toBe(120);
  });
});

describe('criteria on Lemmy', () => {
  const wanted = 'must be a community such as "technology@lemmy.world", or a list of them';
  it.each([
    [{}, 'query', 'a search on lemmy needs a query, terms or filters.community'],
    [{ query: 'lamp', filters: { community: 7 } }, 'filters.community', wanted],
    [
      { query: 'lamp', filters: { community: ['lamps', 'a b'] } },
      'filters.community',
      `${wanted}; "a b" is not valid`,
    ],
    [
      { query: 'lamp', filters: { instances: ['localhost'] } },
      'filters.instances',
      'must be a list of 1 to 5 servers, for example "lemmy.world"; "localhost" is not valid',
    ],
    [{ query: 'lamp', sort: 'Hot' }, 'sort', 'lemmy sorts by newest, not by "Hot"'],
  ])('cannot be %j', (init, path, message) => {
    expect(connector.checkCriteria(criteriaOf(init))).toEqual([{ path, message }]);
  });

  it('can consist of a community alone', () => {
    expect(connector.checkCriteria(criteriaOf({ filters: { community: 'lamps' } }))).toEqual([]);
  });
});
