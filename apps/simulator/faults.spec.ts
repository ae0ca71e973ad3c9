import { SimulatorClient } from './testing/simulator-client.js';

let client: SimulatorClient;
const SEARCH = '/api/v1/search_by_date';

beforeEach(async () => {
  client = await SimulatorClient.start();
});
afterEach(() => client.stop());

async function fault(kind: string, more: object = {}): Promise<void> {
  expect((await client.post('/_sim/faults', { source: 'hackernews', kind, ...more })).status).toBe(201);
}

describe('the faults of the simulator', () => {
  it('affect the given number of requests, in order, and no other source', async () => {
    await fault('429', { times: 2, retryAfterSeconds: 7 });
    await fault('500');
    expect((await client.ask('/feeds/all.rss')).status).toBe(200);
    const limited = await client.ask(SEARCH);
    expect([limited.status, limited.headers['retry-after']]).toEqual([429, '7']);
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await client.ask(SEARCH)).status);
    expect(statuses).toEqual([429, 500, 200]);
  });

  it('affect every request of the source until the faults are deleted, if `times` is 0', async () => {
    await fault('403', { times: 0 });
    for (let i = 0; i < 3; i++) expect((await client.ask(SEARCH)).status).toBe(403);
    await client.send('DELETE', '/_sim/faults');
    expect((await client.ask(SEARCH)).status).toBe(200);
  });

  it('affect only requests whose address contains the given path', async () => {
    await client.post('/_sim/faults', { source: 'reddit', kind: '401', path: '/new' });
    const bearer = await client.reddit();
    expect((await client.ask('/r/all/comments', bearer)).status).toBe(200);
    expect((await client.ask('/r/all/new', bearer)).json()).toEqual({ message: 'Unauthorized', error: 401 });
  });

  it('replace an answer by an HTML page, by JSON of another format, or by an empty body', async () => {
    await fault('html');
    expect((await client.ask(SEARCH)).headers['content-type']).toContain('text/html');
    await fault('shape');
    expect((await client.ask(SEARCH)).json()).not.toHaveProperty('hits');
    await fault('empty');
    expect(await client.ask(SEARCH)).toMatchObject({ status: 200, text: '' });
  });

  it('cut off an answer, delay an answer, or send no answer until the simulator stops', async () => {
    await fault('truncated');
    await expect(client.ask(SEARCH)).rejects.toThrow(/other side closed|terminated|aborted/);
    await fault('slow', { delayMs: 30 });
    const began = performance.now();
    expect((await client.ask(SEARCH)).status).toBe(200);
    expect(performance.now() - began).toBeGreaterThanOrEqual(29);
    await fault('hang');
    const hanging = client.ask(SEARCH);
    const ended = expect(hanging).rejects.toThrow();
    await client.simulator.stop();
    await ended;
  });

  it('are refused if their source or kind is unknown, like an invalid post and an empty burst', async () => {
    expect((await client.post('/_sim/faults', { source: 'nowhere', kind: '500' })).status).toBe(400);
    expect((await client.post('/_sim/faults', { source: 'rss', kind: 'earthquake' })).status).toBe(400);
    expect((await client.post('/_sim/posts', { source: 'rss' })).status).toBe(400);
    expect((await client.post('/_sim/burst', { source: 'rss', text: 'a', count: 0 })).status).toBe(400);
  });
});

it('all posts of one source can be removed; posts of other sources stay', async () => {
  await client.publish('hackernews', 'quokka');
  await client.publish('rss', 'quokka');
  expect((await client.send('DELETE', '/_sim/posts?source=hackernews')).status).toBe(204);
  expect((await client.ask(`${SEARCH}?query=quokka`)).json<{ hits: unknown[] }>().hits).toEqual([]);
  expect((await client.ask('/feeds/all.rss')).text).toContain('quokka');
});

describe('the control routes', () => {
  it('count the requests of each source, with their faults', async () => {
    await fault('500');
    await client.ask(`${SEARCH}?query=a`);
    await client.ask(`${SEARCH}?query=b`);
    await client.ask('/feeds/all.rss');
    const report = (await client.ask('/_sim/requests?source=hackernews')).json<{
      total: number;
      byPath: object;
      requests: object[];
    }>();
    expect(report).toMatchObject({ total: 2, byPath: { [SEARCH]: 2 } });
    expect(report.requests).toMatchObject([
      { url: `${SEARCH}?query=a`, status: 500, fault: '500' },
      { url: `${SEARCH}?query=b`, status: 200 },
    ]);
    await client.send('DELETE', '/_sim/requests');
    expect((await client.ask('/_sim/requests')).json()).toMatchObject({ total: 0, requests: [] });
  });

  it('publish a burst of numbered posts', async () => {
    const burst = await client.post('/_sim/burst', { source: 'bluesky', count: 3, text: 'acme {n}' });
    expect(burst.json<{ ids: string[] }>().ids.length).toBe(3);
    expect(client.simulator.world.posts('bluesky').map(({ text }) => text)).toEqual([
      'acme 1',
      'acme 2',
      'acme 3',
    ]);
    expect((await client.ask('/_sim/stats')).json()).toMatchObject({ posts: { bluesky: 3, rss: 0 } });
  });
});
