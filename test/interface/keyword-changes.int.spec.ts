import { keywordBody, startInterface, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';
import type { Json } from '#testing';

let service: InterfaceUnderTest;
let ada: Tenant;

beforeAll(async () => {
  service = await startInterface();
  ada = await service.tenant();
});
afterAll(() => service?.stop());

const made = async (more: object = {}): Promise<Json> =>
  read((await ada.api.post('/v1/keywords', keywordBody(more as Record<string, unknown>))).body);
const patch = (keyword: Json, changes: unknown, name = 'queries') =>
  ada.api.patch(`/v1/${name}/${keyword.id}`, changes);
const read = async (keyword: Json): Promise<Json> => (await ada.api.get(`/v1/keywords/${keyword.id}`)).body;

/** A keyword with most keys, two searches on hackernews and one on mastodon. */
const full = {
  name: 'Full',
  webhook_url: 'https://example.org/hook',
  ai_preset: 'custom',
  ai_prompt: 'Which product?',
  ai_step: { instruction: 'Read it', schema: { Product_Name: { type: 'enum', values: ['a', 'b'] } } },
  sentiment_enabled: false,
  subject_role: 'competitor',
  mute_rules: ['spam', { value: 'ads', target: 'title', source: 'hackernews' }],
  vip_authors: ['pg', { handle: 'dang', note: 'moderator' }],
  rules: [
    {
      name: 'Loud',
      when: { kind: 'item', all: [{ field: 'score', op: 'gt', value: 100 }] },
      then: [{ type: 'mark', label: 'starred' }],
    },
  ],
  webhook_mode: 'rules',
  webhook_events: ['keyword.paused', 'keyword.resumed'],
  spike_alert: 'high',
  backfill: true,
  schedule: { startsAt: '2020-01-01T00:00', endsAt: null, timezone: 'Europe/Berlin' },
  global_criteria: { market: 'global', query: 'acme', filters: { Kept_Key: [1, { a_b: 2 }] }, match: 'word' },
  sources: [
    {
      source: 'hackernews',
      enabled: true,
      refresh_interval_seconds: 120,
      searches: [{ label: 'all' }, { label: 'jobs', overrides: { query: 'acme jobs' } }],
    },
    { source: 'mastodon', enabled: true },
    { source: 'rss', enabled: false },
  ],
};

describe('a keyword that is read and sent back', () => {
  it('keeps its version, `updatedAt` and watches, whether the whole keyword or one key is sent [requests.read-only-keys]', async () => {
    const keyword = await made(full);
    for (const changes of [keyword, ...Object.entries(keyword).map(([key, value]) => ({ [key]: value }))]) {
      const answer = await patch(keyword, changes);
      expect([answer.status, answer.body]).toEqual([200, { ...keyword, resetSearches: [] }]);
    }
    expect(await read(keyword)).toEqual(keyword);
  });
});

describe('a change', () => {
  it('keeps every key that it does not name [states.absent-unchanged]', async () => {
    const keyword = await made(full);
    const { body } = await patch(keyword, { name: 'Other' });
    expect(body).toEqual({
      ...keyword,
      name: 'Other',
      version: 2,
      updatedAt: body.updatedAt,
      resetSearches: [],
    });
    expect(await read(keyword)).toEqual({ ...keyword, name: 'Other', version: 2, updatedAt: body.updatedAt });
  });

  it.each<[string, unknown]>([
    ['webhookUrl', null],
    ['aiPreset', null],
    ['aiPrompt', null],
    ['aiStep', null],
    ['spikeAlert', null],
    ['schedule', null],
    ['muteRules', []],
    ['vipAuthors', []],
    ['rules', []],
    ['webhookEvents', []],
    ['webhookMode', 'all'],
    ['subjectRole', 'own'],
    ['sentimentEnabled', true],
    ['backfill', false],
  ])('clears %s with null [states.null-clears]', async (key, cleared) => {
    const keyword = await made(full);
    const { status, body } = await patch(keyword, { [key]: null });
    expect([status, body[key]]).toEqual([200, cleared]);
    expect({ ...body, [key]: keyword[key], updatedAt: keyword.updatedAt, version: 1 }).toEqual({
      ...keyword,
      resetSearches: [],
    });
  });

  it.each(['name', 'refreshIntervalSeconds', 'globalCriteria', 'sources'])('cannot clear %s', async (key) => {
    const answer = await patch(await made(), { [key]: null });
    expect([answer.status, answer.body.code, answer.body.details[0].path]).toEqual([400, 'VALIDATION', key]);
  });

  it('keeps the ids of rules if a body without ids changes one rule and adds another', async () => {
    const rule = (name: string, label: string) => ({
      name,
      when: { kind: 'item', all: [{ field: 'vip', op: 'eq', value: true }] },
      then: [{ type: 'mark', label }],
    });
    const keyword = await made({ ...full, rules: [rule('one', 'starred'), rule('two', 'starred')] });
    const [one, two] = keyword.rules.map(({ id }: Json) => id);
    const { body } = await patch(keyword, {
      rules: [rule('two', 'hidden'), rule('three', 'starred'), rule('one', 'starred')],
    });
    expect(body.rules.map(({ id, name }: Json) => [id, name])).toEqual([
      [two, 'two'],
      [expect.any(String), 'three'],
      [one, 'one'],
    ]);
    expect(body.rules[0].then[0].label).toBe('hidden');
    expect([one, two]).not.toContain(body.rules[1].id);
  });

  it('accepts camelCase on both paths, and snake_case only on /v1/keywords [requests.queries-camel, requests.snake-bodies]', async () => {
    const keyword = await made();
    expect((await patch(keyword, { webhook_mode: 'rules' }, 'keywords')).body.webhookMode).toBe('rules');
    expect((await patch(keyword, { webhookMode: 'all' }, 'keywords')).body.webhookMode).toBe('all');
    const refused = await patch(keyword, { webhook_mode: 'rules' });
    expect(refused.body.details).toEqual([
      { path: 'webhook_mode', message: 'is not a known key; did you mean webhookMode?' },
    ]);
  });

  it('reports an unknown key and every other fault, and changes nothing [requests.unknown-key, requests.all-faults]', async () => {
    const keyword = await made();
    const answer = await patch(keyword, { colour: 'red', name: '', spikeAlert: 'wild' });
    expect(answer.status).toBe(400);
    expect(answer.body.details.map(({ path }: Json) => path)).toEqual(['colour', 'name', 'spikeAlert']);
    expect(await read(keyword)).toEqual(keyword);
  });

  it('returns 404 for another account’s keyword', async () => {
    const eve = await service.tenant();
    const { id } = await made();
    const answer = await eve.api.patch(`/v1/keywords/${id}`, { name: 'Mine' });
    expect([answer.status, answer.body.code]).toEqual([404, 'NOT_FOUND']);
  });

  it('returns 409 for a retired keyword', async () => {
    const keyword = await made();
    await ada.api.delete(`/v1/keywords/${keyword.id}`);
    const answer = await patch(keyword, { name: 'Late' });
    expect([answer.status, answer.body.code]).toEqual([409, 'CONFLICT']);
  });
});

describe('a search of a changed keyword', () => {
  it.each<[string, object]>([
    ['terms', { terms: ['acme', 'rocket'] }],
    ['query', { query: 'acme rocket' }],
    ['filters', { filters: { tag: 'ask' } }],
    ['market', { market: 'de' }],
  ])(
    'starts over on a new watch after a change of its %s [states.search-started-over, states.resets-told, keywords.patch, keywords.hash-changed]',
    async (_, overrides) => {
      const keyword = await made(full);
      const [all, jobs] = keyword.sources[0].searches;
      const sources = [
        {
          ...keyword.sources[0],
          searches: [all, { ...jobs, overrides: { ...jobs.overrides, ...overrides } }],
        },
        ...keyword.sources.slice(1),
      ];
      const { status, body } = await patch(keyword, { sources });
      expect(status).toBe(200);
      const before = keyword.watches.find((watch: Json) => watch.searchId === jobs.id);
      expect(body.resetSearches).toEqual([
        {
          source: 'hackernews',
          searchId: jobs.id,
          label: 'jobs',
          previousWatchId: before.id,
          watchId: expect.any(String),
        },
      ]);
      const running = body.watches.filter((watch: Json) => watch.isActive);
      expect(running.map((watch: Json) => watch.searchId)).toContain(jobs.id);
      expect(running.map((watch: Json) => watch.id)).toContain(body.resetSearches[0].watchId);
      expect(running.map((watch: Json) => watch.id)).not.toContain(before.id);
      // The other watches continue unchanged.
      for (const watch of keyword.watches.filter((one: Json) => one.id !== before.id))
        expect(body.watches).toContainEqual(watch);
    },
  );

  it('starts over, with all other searches, if the global criteria change', async () => {
    const keyword = await made(full);
    const { body } = await patch(keyword, { globalCriteria: { market: 'global', query: 'globex' } });
    // `jobs` has its own query, but its filters and match mode come from the global criteria.
    expect(body.resetSearches.map(({ source, label }: Json) => [source, label]).sort()).toEqual([
      ['hackernews', 'all'],
      ['hackernews', 'jobs'],
      ['mastodon', null],
    ]);
  });

  it('continues if only label, name, interval or webhook change [states.watch-goes-on, keywords.hash-changed]', async () => {
    const keyword = await made(full);
    const [all, jobs] = keyword.sources[0].searches;
    const { body } = await patch(keyword, {
      name: 'Renamed',
      refreshIntervalSeconds: 900,
      webhookUrl: 'https://example.org/other',
      sources: [
        {
          ...keyword.sources[0],
          refreshIntervalSeconds: 180,
          searches: [{ ...all, label: 'every' }, jobs],
        },
        ...keyword.sources.slice(1),
      ],
    });
    expect(body.resetSearches).toEqual([]);
    expect(
      body.watches.map(({ id, source, refreshIntervalSeconds }: Json) => [
        id,
        source,
        refreshIntervalSeconds,
      ]),
    ).toEqual(
      keyword.watches.map(({ id, source }: Json) => [id, source, source === 'hackernews' ? 180 : 900]),
    );
    for (const { id, source } of body.watches) {
      const watch = (await ada.api.get(`/v1/${source}/watches/${id}`)).body;
      expect(watch.webhookUrl).toBe('https://example.org/other');
    }
  });

  it('continues, with the same id, if the body leaves out the id', async () => {
    const keyword = await made(full);
    const searches = keyword.sources[0].searches.map(({ id: _, ...search }: Json) => search);
    const { body } = await patch(keyword, {
      sources: [{ ...keyword.sources[0], searches }, ...keyword.sources.slice(1)],
    });
    expect(body).toEqual({ ...keyword, resetSearches: [] });
  });

  it('is paused while its source is disabled, and continues when the source is enabled again', async () => {
    const keyword = await made(full);
    const [hackernews, mastodon, rss] = keyword.sources;
    const off = await patch(keyword, { sources: [hackernews, { ...mastodon, enabled: false }, rss] });
    const paused = off.body.watches.find((watch: Json) => watch.source === 'mastodon');
    expect([paused.isActive, off.body.resetSearches]).toEqual([false, []]);
    const on = await patch(keyword, { sources: [hackernews, mastodon, rss] });
    expect(on.body.watches).toEqual(keyword.watches);
    expect(on.body.resetSearches).toEqual([]);
  });

  it('ends when another search replaces it', async () => {
    const keyword = await made(full);
    const [hackernews] = keyword.sources;
    const { body } = await patch(keyword, {
      sources: [{ ...hackernews, searches: [hackernews.searches[0], { overrides: { query: 'new' } }] }],
    });
    expect(body.resetSearches).toEqual([]);
    const active = body.watches.filter((watch: Json) => watch.isActive);
    expect(active.map((watch: Json) => watch.searchId).sort()).toEqual(
      body.sources[0].searches.map((search: Json) => search.id).sort(),
    );
  });
});

describe('concurrent changes', () => {
  it('are each applied or refused with 409, and none is lost', async () => {
    const keyword = await made(full);
    const changes = [
      { name: 'One' },
      { muteRules: ['two'] },
      { webhookUrl: 'https://example.org/three' },
      { spikeAlert: 'low' },
      { vipAuthors: ['five'] },
      { refreshIntervalSeconds: 777 },
    ];
    const answers = await Promise.all(changes.map((one) => patch(keyword, one)));
    const after = await read(keyword);
    const applied = answers.filter(({ status }) => status === 200).length;
    expect(applied).toBeGreaterThan(0);
    expect(after.version).toBe(1 + applied);
    for (const [index, { status, body }] of answers.entries()) {
      const [[key, value] = ['', undefined]] = Object.entries(changes[index] ?? {});
      if (status !== 200) expect([status, body.code]).toEqual([409, 'CONFLICT']);
      const returned =
        key === 'muteRules'
          ? after.muteRules[0].value
          : key === 'vipAuthors'
            ? after.vipAuthors[0].handle
            : after[key];
      const given = Array.isArray(value) ? value[0] : value;
      const before = key === 'muteRules' ? 'spam' : key === 'vipAuthors' ? 'pg' : keyword[key];
      expect(returned).toBe(status === 200 ? given : before);
    }
  });
});
