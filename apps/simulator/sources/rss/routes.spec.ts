import { SimulatorClient } from '../../testing/simulator-client.js';

let client: SimulatorClient;

beforeEach(async () => {
  client = await SimulatorClient.start();
});
afterEach(() => client.stop());

describe('the simulated feeds', () => {
  it('return 304 to If-None-Match and to If-Modified-Since while nothing is new', async () => {
    await client.publish('rss', 'first', { community: 'mine' });
    const read = await client.ask('/feeds/mine.rss');
    const etag = String(read.headers.etag);
    const date = String(read.headers['last-modified']);
    expect((await client.ask('/feeds/mine.rss', { 'if-none-match': etag })).status).toBe(304);
    expect((await client.ask('/feeds/mine.rss', { 'if-modified-since': date })).status).toBe(304);
    client.clock.pass(5);
    await client.publish('rss', 'second', { community: 'mine' });
    const changed = await client.ask('/feeds/mine.rss', { 'if-none-match': etag, 'if-modified-since': date });
    expect(changed.status).toBe(200);
    expect(changed.text).toContain('<ttl>1</ttl>');
    expect((await client.ask('/feeds/nobody.rss')).status).toBe(404);
  });
});
