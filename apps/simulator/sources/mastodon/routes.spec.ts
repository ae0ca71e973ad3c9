import { SimulatorClient, type Answer } from '../../testing/simulator-client.js';

let client: SimulatorClient;

beforeEach(async () => {
  client = await SimulatorClient.start();
});
afterEach(() => client.stop());

const BEARER = { authorization: 'Bearer any' };

describe('the simulated Mastodon', () => {
  type Status = Record<string, unknown> & { id: string; content: string };
  const publish = (text: string, more: object = {}) =>
    client.simulator.world.publish('mastodon', { text, author: 'ada', ...more }).id;
  const search = (q: string, more = '') =>
    client.ask(`/api/v2/search?type=statuses&q=${encodeURIComponent(q)}${more}`, BEARER);
  const found = (answer: Answer) => answer.json<{ statuses: Status[] }>().statuses.map(({ id }) => id);
  const shown = (answer: Answer) => answer.json<Status[]>().map(({ id }) => id);

  it('finds posts that match every part of the query: stems of words, exact phrases and operators', async () => {
    const one = publish('The acme rocket', { lang: 'en' });
    client.clock.pass(86_400);
    const two = publish('Rockets of Acme, see https://acme.example/a', { author: 'grace@kind.example' });
    expect(found(await search('rocket acme'))).toEqual([two, one]);
    expect(found(await search('"acme rocket"'))).toEqual([one]);
    expect(found(await search('"rocket"'))).toEqual([one]);
    expect(found(await search('acme -see'))).toEqual([one]);
    expect(found(await search('acme OR kestrel'))).toEqual([]);
    expect(found(await search('acme from:@grace@kind.example'))).toEqual([two]);
    expect(found(await search('acme has:link'))).toEqual([two]);
    expect(found(await search('acme language:en'))).toEqual([one]);
    expect(found(await search('acme before:2026-03-02'))).toEqual([one]);
    expect(found(await search('acme after:2026-03-01'))).toEqual([two]);
    expect(found(await search('acme during:2026-03-01'))).toEqual([one]);
    expect(found(await search('acme in:library'))).toEqual([]);
  });

  it('does not find posts of authors who have not allowed searches, and finds nothing without a sign-in', async () => {
    const hidden = publish('An acme rocket #acme', { author: 'hidden_ada' });
    publish('An acme rocket');
    expect(found(await search('acme'))).not.toContain(hidden);
    expect(shown(await client.ask('/api/v1/timelines/tag/acme'))).toEqual([hidden]);
    const withoutToken = await client.ask('/api/v2/search?type=statuses&q=acme');
    expect(withoutToken.json()).toEqual({ accounts: [], statuses: [], hashtags: [], collections: [] });
  });

  it('returns pages of a search by offset, with twenty posts by default and at most forty', async () => {
    for (let i = 0; i < 45; i++) publish(`acme ${i}`);
    expect(found(await search('acme'))).toHaveLength(20);
    expect(found(await search('acme', '&limit=400'))).toHaveLength(40);
    expect(found(await search('acme', '&limit=40&offset=40'))).toHaveLength(5);
    expect(found(await search('acme', '&limit=40&offset=80'))).toEqual([]);
  });

  it('shows the posts of a hashtag to everybody, and combines hashtags with `any`, `all` and `none`', async () => {
    const one = publish('#Acme and #Rocket');
    const two = publish('#rocket alone');
    const three = publish('#kestrel');
    const tag = (path: string) => client.ask(`/api/v1/timelines/tag/${path}`);
    expect(shown(await tag('ACME'))).toEqual([one]);
    expect(shown(await tag('acme?any[]=kestrel&any[]=rocket'))).toEqual([three, two, one]);
    expect(shown(await tag('rocket?all[]=acme'))).toEqual([one]);
    expect(shown(await tag('rocket?none[]=acme'))).toEqual([two]);
    // The tag in the path counts as one of the four tags.
    expect(shown(await tag('acme?any[]=a&any[]=b&any[]=c&any[]=kestrel'))).toEqual([one]);
    expect(shown(await tag('nobody?any[]=kestrel'))).toEqual([]);
  });

  it('returns pages of timelines by ids, which the Link header contains', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      ids.unshift(publish(`post ${i}`));
      client.clock.pass(1);
    }
    const ask = (query: string) => client.ask(`/api/v1/timelines/public?${query}`, BEARER);
    const first = await ask('limit=2');
    expect(shown(first)).toEqual(ids.slice(0, 2));
    const path = `${client.simulator.url}/api/v1/timelines/public`;
    expect(first.headers['link']).toBe(
      `<${path}?limit=2&max_id=${ids[1]}>; rel="next", <${path}?limit=2&min_id=${ids[0]}>; rel="prev"`,
    );
    expect(shown(await ask(`limit=2&max_id=${ids[1]}`))).toEqual(ids.slice(2, 4));
    expect(shown(await ask(`limit=2&since_id=${ids[4]}`))).toEqual(ids.slice(0, 2));
    expect(shown(await ask(`limit=2&min_id=${ids[4]}`))).toEqual(ids.slice(2, 4));
    const last = await ask(`max_id=${ids[4]}`);
    expect([last.text, last.headers['link']]).toEqual(['[]', undefined]);
  });

  it('separates local accounts from accounts of other instances', async () => {
    const here = publish('one', { author: 'ada@social.example' });
    const away = publish('two', { author: 'grace@kind.example' });
    const ask = (query: string) => client.ask(`/api/v1/timelines/public?${query}`, BEARER);
    expect(shown(await ask('local=true'))).toEqual([here]);
    expect(shown(await ask('remote=true'))).toEqual([away]);
    const accounts = (await ask('local=false')).json<{ account: { acct: string }; uri: string }[]>();
    expect(accounts.map(({ account, uri }) => [account.acct, uri])).toEqual([
      ['grace@kind.example', `https://kind.example/users/grace/statuses/${away}`],
      ['ada', `https://social.example/users/ada/statuses/${here}`],
    ]);
  });

  it('returns HTML that contains the whole address of a link', async () => {
    const link = 'https://www.acme.example/a/very/long/path?x=1&y=2';
    publish(`"A" & #Größe\nby @grace@kind.example\n\n${link}`, { author: 'ada@social.example' });
    const [status] = (await client.ask('/api/v1/timelines/public', BEARER)).json<Status[]>();
    expect(status?.content).toBe(
      '<p>&quot;A&quot; &amp; <a href="https://social.example/tags/Gr%C3%B6%C3%9Fe" class="mention hashtag" rel="tag">#<span>Größe</span></a><br>' +
        'by <span class="h-card" translate="no"><a href="https://kind.example/@grace" class="u-url mention">@<span>grace</span></a></span></p>' +
        '<p><a href="https://www.acme.example/a/very/long/path?x=1&amp;y=2" rel="nofollow noopener" translate="no" target="_blank">' +
        '<span class="invisible">https://www.</span><span class="ellipsis">acme.example/a/very/long/path?</span><span class="invisible">x=1&amp;y=2</span></a></p>',
    );
    expect(status).toMatchObject({
      tags: [{ name: 'größe', url: 'https://social.example/tags/gr%C3%B6%C3%9Fe' }],
      mentions: [{ acct: 'grace@kind.example' }],
      card: { url: link },
    });
  });

  it('refuses requests without a token, with a wrong token, and without a query', async () => {
    const refused: [string, Record<string, string>, number, string][] = [
      ['/api/v1/timelines/public', {}, 422, 'This method requires an authenticated user'],
      ['/api/v1/timelines/tag/a', { authorization: 'Bearer wrong' }, 401, 'The access token is invalid'],
      ['/api/v2/search', BEARER, 400, 'param is missing or the value is empty or invalid: q'],
      [
        '/api/v2/search?q=a&offset=20',
        {},
        401,
        'Search queries pagination is not supported without authentication',
      ],
      [
        '/api/v2/search?q=a&resolve=1',
        {},
        401,
        'Search queries that resolve remote resources are not supported without authentication',
      ],
      ['/api/v1/statuses/0', BEARER, 404, 'Not Found'],
    ];
    for (const [path, headers, status, error] of refused) {
      const answer = await client.ask(path, headers);
      expect([answer.status, answer.json()]).toEqual([status, { error }]);
    }
  });

  it('reports how many requests remain in five minutes, and refuses requests above the limit', async () => {
    await client.stop();
    client = await SimulatorClient.start({ limits: { mastodon: 2 } });
    const first = await client.ask('/api/v1/timelines/tag/a');
    expect(first.headers).toMatchObject({
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '1',
      'x-ratelimit-reset': '2026-03-01T12:05:00.000000Z',
    });
    await client.ask('/api/v1/timelines/tag/a');
    const refused = await client.ask('/api/v1/timelines/tag/a');
    expect([refused.status, refused.json()]).toEqual([429, { error: 'Too many requests' }]);
    client.clock.pass(300);
    expect((await client.ask('/api/v1/timelines/tag/a')).status).toBe(200);
  });
});
