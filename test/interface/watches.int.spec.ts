import { keywordBody, startInterface, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';

let service: InterfaceUnderTest;
let ada: Tenant;

beforeAll(async () => {
  service = await startInterface();
  ada = await service.tenant();
});
afterAll(() => service?.stop());

describe('watches', () => {
  const body = (query: string) => ({
    criteria: { query },
    refresh_interval_seconds: 600,
    webhook_url: 'https://example.org/hook',
  });

  it('are created, read, changed and deleted without a keyword', async () => {
    const made = await ada.api.post('/v1/hackernews/watches', body('first'));
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      source: 'hackernews',
      market: 'global',
      criteria: { market: 'global', query: 'first' },
      refreshIntervalSeconds: 600,
      webhookUrl: 'https://example.org/hook',
      keywordId: null,
      isActive: true,
      pausedReason: null,
      ai: null,
    });
    const path = `/v1/hackernews/watches/${made.body.id}`;
    expect((await ada.api.get(path)).body).toEqual(made.body);
    const changed = await ada.api.patch(path, {
      refresh_interval_seconds: 60,
      webhook_url: null,
      is_active: false,
    });
    expect([changed.status, changed.body]).toMatchObject([
      200,
      { refreshIntervalSeconds: 60, webhookUrl: null, isActive: false, pausedReason: 'user' },
    ]);
    const resumed = await ada.api.patch(path, { isActive: true });
    expect(resumed.body).toMatchObject({
      refreshIntervalSeconds: 60,
      webhookUrl: null,
      isActive: true,
      pausedReason: null,
    });
    expect((await ada.api.patch(path, { refresh_interval_seconds: null })).status).toBe(400);
    expect((await ada.api.patch(path, { criteria: { query: 'other' } })).body.details).toEqual([
      { path: 'criteria', message: 'is not a known key' },
    ]);
    expect((await ada.api.delete(path)).status).toBe(204);
    expect((await ada.api.get(path)).status).toBe(404);
  });

  it('are refused with 409 while an active watch has the same search [keywords.same-watch, errors.conflict]', async () => {
    const first = (await ada.api.post('/v1/hackernews/watches', body('twin'))).body;
    const refused = await ada.api.post('/v1/hackernews/watches', body(' twin '));
    expect([refused.status, refused.body.code]).toEqual([409, 'DUPLICATE_SEARCH']);
    await ada.api.patch(`/v1/hackernews/watches/${first.id}`, { is_active: false });
    expect((await ada.api.post('/v1/hackernews/watches', body('twin'))).status).toBe(201);
    expect((await ada.api.patch(`/v1/hackernews/watches/${first.id}`, { is_active: true })).status).toBe(409);
  });

  it.each(['is_active', 'isActive'])(
    'are refused, with the path %s of the change, if a resumed watch would run the same search twice',
    async (key) => {
      const path = `/v1/hackernews/watches/${(await ada.api.post('/v1/hackernews/watches', body(key))).body.id}`;
      await ada.api.patch(path, { [key]: false });
      const other = (await ada.api.post('/v1/hackernews/watches', body(key))).body.id;
      const message = `the watch ${other} has the same search: use it, or pause or delete it first`;
      const details = async (answer: ReturnType<typeof ada.api.patch>) => (await answer).body.details;
      expect(await details(ada.api.patch(path, { [key]: true }))).toEqual([{ path: key, message }]);
      expect(await details(ada.api.post('/v1/hackernews/watches', body(key)))).toEqual([
        { path: 'criteria', message },
      ]);
    },
  );

  it.each(['refresh_interval_seconds', 'refreshIntervalSeconds'])(
    'are refused, with the path %s as in the body, if their interval is too short for the plan',
    async (key) => {
      const { api } = await service.tenant('free');
      const made = await api.post('/v1/hackernews/watches', { criteria: { query: 'a' }, [key]: 3600 });
      const answers = [
        await api.post('/v1/hackernews/watches', { criteria: { query: 'b' }, [key]: 60 }),
        await api.patch(`/v1/hackernews/watches/${made.body.id}`, { [key]: 60 }),
      ];
      for (const { body: refused } of answers) {
        expect([refused.code, refused.details[0].path]).toEqual(['INTERVAL_TOO_LOW', key]);
        expect(refused.error).toContain(`${key}: 60 s is below the floor`);
      }
    },
  );

  it('can change only together with their keyword if they belong to a keyword', async () => {
    const { watches } = (await ada.api.post('/v1/keywords', keywordBody())).body;
    const path = `/v1/hackernews/watches/${watches[0].id}`;
    expect((await ada.api.get(path)).status).toBe(200);
    expect((await ada.api.patch(path, { is_active: false })).status).toBe(409);
    expect((await ada.api.delete(path)).status).toBe(409);
  });

  it('are listed newest first, page by page', async () => {
    const { api } = await service.tenant();
    const ids = [];
    for (const query of ['a', 'b', 'c'])
      ids.unshift((await api.post('/v1/hackernews/watches', body(query))).body.id);
    const first = await api.get('/v1/hackernews/watches?limit=2');
    const second = await api.get(`/v1/hackernews/watches?limit=2&cursor=${first.body.nextCursor}`);
    expect([...first.body.watches, ...second.body.watches].map(({ id }) => id)).toEqual(ids);
    expect(second.body.nextCursor).toBeUndefined();
    expect((await api.get(`/v1/rss/watches?limit=2&cursor=${first.body.nextCursor}`)).status).toBe(400);
  });

  it('need the filters that their source requires', async () => {
    const answer = await ada.api.post('/v1/rss/watches', {
      criteria: { query: 'x' },
      refresh_interval_seconds: 600,
    });
    expect([answer.status, answer.body.details]).toEqual([
      400,
      [{ path: 'criteria.filters.feed_urls', message: 'a search on rss needs 1 to 20 addresses of feeds' }],
    ]);
    expect(
      (await ada.api.post('/v1/hackernews/watches', {})).body.details.map(
        ({ path }: { path: string }) => path,
      ),
    ).toEqual(['criteria', 'refresh_interval_seconds']);
  });
});
