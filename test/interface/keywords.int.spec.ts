import { insertRows, NO_ID, type ActivityRow } from '#clickhouse';
import { newId } from '#kernel';
import { keywordBody, startInterface, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';

let service: InterfaceUnderTest;
let ada: Tenant;

beforeAll(async () => {
  service = await startInterface();
  ada = await service.tenant();
});
afterAll(() => service?.stop());

/** Two searches on hackernews; the second has overrides. */
const searched = {
  sources: [
    {
      source: 'hackernews',
      enabled: true,
      refresh_interval_seconds: 120,
      searches: [
        { label: 'all' },
        { label: 'jobs', overrides: { query: 'acme jobs', filters: { Kept_Key: 1 } } },
      ],
    },
    { source: 'rss', enabled: false },
  ],
};

describe('creating a keyword', () => {
  it('returns 201 with the keyword, which can then be read under both paths [keywords.create, requests.two-names, estimate.token-optional]', async () => {
    const made = await ada.api.post('/v1/keywords', keywordBody(searched));
    expect(made.status).toBe(201);
    for (const name of ['keywords', 'queries']) {
      const read = await ada.api.get(`/v1/${name}/${made.body.id}`);
      expect([read.status, { ...read.body, warnings: made.body.warnings }]).toEqual([200, made.body]);
    }
    expect(made.body).toMatchObject({ state: 'active', pausedReason: null, version: 1, name: 'Acme' });
    expect(made.body.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('makes a keyword that can be read even if a newer release has stored a field in its criteria', async () => {
    const { body } = await ada.api.post('/v1/keywords', keywordBody(searched));
    await service.database.query(
      `UPDATE watches SET criteria = criteria || '{"fieldOfNewerRelease": 1}' WHERE keyword_id = $1`,
      [body.id],
    );
    const read = await ada.api.get(`/v1/keywords/${body.id}`);
    expect([read.status, read.body.watches]).toEqual([200, body.watches]);
  });

  it('creates a watch, with the interval of the source, for each search of each enabled source [keywords.watches]', async () => {
    const { body } = await ada.api.post('/v1/keywords', keywordBody(searched));
    const [all, jobs] = body.sources[0].searches;
    expect(jobs.overrides).toEqual({ query: 'acme jobs', filters: { Kept_Key: 1 } });
    expect(
      body.watches.map((watch: Record<string, unknown>) => [
        watch.source,
        watch.searchId,
        watch.refreshIntervalSeconds,
      ]),
    ).toEqual(
      expect.arrayContaining([
        ['hackernews', all.id, 120],
        ['hackernews', jobs.id, 120],
      ]),
    );
    expect(body.watches).toHaveLength(2);
    for (const { id, isActive, lastCheckedAt, lastStatus } of body.watches) {
      expect([isActive, lastCheckedAt, lastStatus]).toEqual([true, null, null]);
      const watch = (await ada.api.get(`/v1/hackernews/watches/${id}`)).body;
      expect(watch).toMatchObject({
        accountId: ada.accountId,
        keywordId: body.id,
        market: 'global',
        billingMode: 'subscription',
      });
    }
  });

  it('accepts camelCase on both paths, and snake_case only on /v1/keywords [requests.queries-camel, requests.snake-bodies]', async () => {
    const camel = {
      name: 'Camel',
      refreshIntervalSeconds: 600,
      globalCriteria: { market: 'global', query: 'camel' },
      sources: [{ source: 'hackernews', enabled: true }],
    };
    expect((await ada.api.post('/v1/keywords', camel)).status).toBe(201);
    expect((await ada.api.post('/v1/queries', camel)).status).toBe(201);
    const refused = await ada.api.post('/v1/queries', keywordBody());
    expect(refused.status).toBe(400);
    expect(refused.body.details).toContainEqual({
      path: 'refresh_interval_seconds',
      message: 'is not a known key',
    });
  });

  it('accepts a keyword as it was read, with its read-only keys, under POST /v1/queries [requests.read-only-keys]', async () => {
    const { id } = (await ada.api.post('/v1/keywords', keywordBody(searched))).body;
    const read = (await ada.api.get(`/v1/keywords/${id}`)).body;
    const again = await ada.api.post('/v1/queries', read);
    expect(again.status).toBe(201);
    expect(again.body.id).not.toBe(read.id);
    expect(again.body.sources).toEqual(read.sources);
  });

  it('returns 409 if a keyword contains the same search twice [keywords.same-search, requests.duplicate-search, errors.conflict]', async () => {
    const twice = [
      {
        source: 'hackernews',
        enabled: true,
        searches: [{ label: 'a' }, { label: 'b', overrides: { query: ' acme ' } }],
      },
    ];
    const answer = await ada.api.post('/v1/keywords', keywordBody({ sources: twice }));
    expect([answer.status, answer.body]).toEqual([
      409,
      {
        error: 'the keyword contains the same search on hackernews twice',
        code: 'DUPLICATE_SEARCH',
        details: [
          {
            path: 'sources',
            message:
              'searches[0] and searches[1] on hackernews have the same criteria; remove one of them, or change its overrides',
          },
        ],
      },
    ]);
  });

  it.each([
    ['x', 'x is not configured; missing: SOURCE_X_TOKEN'],
    ['reddit', 'reddit is not configured; missing: SOURCE_REDDIT_CLIENT_ID, SOURCE_REDDIT_CLIENT_SECRET'],
  ])(
    'refuses the source %s while its settings are missing, and names these settings',
    async (source, message) => {
      const answer = await ada.api.post(
        '/v1/keywords',
        keywordBody({ sources: [{ source, enabled: true }] }),
      );
      expect([answer.status, answer.body.details]).toEqual([400, [{ path: 'sources[0].source', message }]]);
      expect(
        (await ada.api.post('/v1/keywords', keywordBody({ sources: [{ source, enabled: false }] }))).status,
      ).toBe(201);
    },
  );

  it('returns 413 for a keyword that is too large for a message', async () => {
    const search = (n: number) => ({
      overrides: { query: `acme ${n}`, filters: { note: 'x'.repeat(15_000) } },
    });
    const sources = [
      { source: 'hackernews', enabled: true, searches: Array.from({ length: 66 }, (_, n) => search(n)) },
    ];
    const answer = await ada.api.post('/v1/keywords', keywordBody({ sources }));
    expect([answer.status, answer.body.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  it('makes a keyword whose id the API also accepts in upper case', async () => {
    const { id, watches } = (await ada.api.post('/v1/keywords', keywordBody())).body;
    expect((await ada.api.get(`/v1/keywords/${id.toUpperCase()}`)).body).toMatchObject({ id, watches });
    expect((await ada.api.delete(`/v1/keywords/${id.toUpperCase()}`)).status).toBe(204);
    expect((await ada.api.get(`/v1/keywords/${id}`)).body.state).toBe('retired');
  });
});

describe('the list of keywords', () => {
  it('returns 400 if the text to find in names contains U+0000', async () => {
    expect((await ada.api.get('/v1/keywords?q=%00')).status).toBe(400);
  });

  it('shows each keyword once, newest first, page by page, with filters by state, source and name [keywords.list, requests.cursor]', async () => {
    const { api } = await service.tenant();
    const ids: string[] = [];
    for (const name of ['One', 'Two', 'Two_and', '100%']) {
      const { body } = await api.post('/v1/keywords', keywordBody({ name }));
      ids.unshift(body.id);
    }
    const first = await api.get('/v1/keywords?limit=2');
    await api.post('/v1/keywords', keywordBody({ name: 'Late' }));
    const second = await api.get(`/v1/keywords?limit=2&cursor=${first.body.nextCursor}`);
    expect([...first.body.data, ...second.body.data].map(({ id }) => id)).toEqual(ids);
    expect(second.body.nextCursor).toBeUndefined();
    await api.delete(`/v1/keywords/${ids[0]}`);
    const names = async (query: string) =>
      (await api.get(`/v1/keywords?${query}`)).body.data.map(({ name }: { name: string }) => name);
    expect(await names('state=retired')).toEqual(['100%']);
    expect(await names('state=retired&state=active&q=%25')).toEqual(['100%']);
    expect(await names('q=TWO')).toEqual(['Two_and', 'Two']);
    expect(await names('q=o_a')).toEqual(['Two_and']);
    expect(await names('source=rss')).toEqual([]);
    expect(await names('source=rss&source=hackernews&q=one')).toEqual(['One']);
    const entries = (...sources: [string, boolean][]) => ({
      sources: sources.map(([source, enabled]) => ({ source, enabled })),
    });
    await api.patch(`/v1/keywords/${ids[3]}`, entries(['hackernews', true], ['lemmy', false]));
    await api.patch(`/v1/keywords/${ids[2]}`, entries(['lemmy', true]));
    expect(await names('source=lemmy')).toEqual(['Two', 'One']);
    expect(await names('source=hackernews&q=two')).toEqual(['Two_and']);
    expect((await api.get(`/v1/keywords?limit=2&state=active&cursor=${first.body.nextCursor}`)).status).toBe(
      400,
    );
  });
});

describe('a keyword’s activity', () => {
  it('shows 1 to 500 records, newest first, and filters them by `source` and `since` [keywords.activity, limits.activity, limits.window-activity]', async () => {
    const { accountId, api } = await service.tenant();
    const { id } = (await api.post('/v1/keywords', keywordBody())).body;
    const row = (n: number, more: Partial<ActivityRow> = {}): ActivityRow => ({
      account_id: accountId,
      keyword_id: id,
      occurred_at: new Date(Date.now() - 600_000 - Math.floor(n / 3) * 1000).toISOString(),
      activity_id: newId(),
      watch_id: newId(),
      source: 'hackernews',
      type: 'poll.completed',
      events_emitted: 0,
      credits_charged: 1,
      event_id: null,
      status_code: null,
      message: '',
      ...more,
    });
    const webhook = row(-3, {
      source: 'rss',
      type: 'webhook.failed',
      events_emitted: null,
      credits_charged: null,
      event_id: newId(),
      status_code: 500,
      message: 'the endpoint answered 500',
    });
    const rows = [webhook, ...Array.from({ length: 501 }, (_, n) => row(n))];
    const old = row(0, {
      occurred_at: new Date(Date.now() - 8 * 24 * 3_600_000).toISOString(),
      source: 'rss',
    });
    await insertRows(service.clickhouse, 'activity', [
      ...rows,
      old,
      ...rows.slice(0, 50),
      row(0, { keyword_id: NO_ID }),
    ]);

    const path = `/v1/keywords/${id}/activity`;
    const count = async (query: string) => (await api.get(`${path}?${query}`)).body.activity.length;
    expect([await count(''), await count('limit=1'), await count('limit=500')]).toEqual([100, 1, 500]);
    for (const limit of ['0', '501']) expect((await api.get(`${path}?limit=${limit}`)).status).toBe(400);

    const found: { id: string; occurredAt: string }[] = [];
    let cursor: string | undefined;
    do {
      const { body } = await api.get(`${path}?limit=200${cursor ? `&cursor=${cursor}` : ''}`);
      found.push(...body.activity);
      cursor = body.nextCursor;
    } while (cursor);
    expect(found.map((record) => record.id).sort()).toEqual(rows.map((one) => one.activity_id).sort());
    expect(found.map(({ occurredAt }) => occurredAt)).toEqual(
      found
        .map(({ occurredAt }) => occurredAt)
        .sort()
        .reverse(),
    );

    expect((await api.get(`${path}?source=rss`)).body.activity).toEqual([
      {
        id: webhook.activity_id,
        source: 'rss',
        type: 'webhook.failed',
        occurredAt: webhook.occurred_at,
        watchId: webhook.watch_id,
        eventId: webhook.event_id,
        statusCode: 500,
        message: 'the endpoint answered 500',
      },
    ]);
    expect(await count(`source=rss&since=${new Date(Date.now() - 9 * 24 * 3_600_000).toISOString()}`)).toBe(
      2,
    );
    expect((await api.get(`/v1/queries/${id}/activity?limit=1`)).status).toBe(200);
  });
});
