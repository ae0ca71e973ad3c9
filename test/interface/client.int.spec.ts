import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { create, toBinary } from '@bufbuild/protobuf';
import { parse } from 'yaml';
import { insertRows } from '#clickhouse';
import { createClient, EarshotError, type Client } from '#client';
import { EventSchema, limitsOf } from '#contracts';
import { EventStore } from '#event-store';
import { newId } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { createLogger } from '#telemetry';
import { checkout, until, type Json } from '#testing';
import {
  keywordBody,
  mentionRow,
  startInterface,
  type InterfaceUnderTest,
  type Tenant,
} from './interface-under-test.js';

const CLI = fileURLToPath(new URL('dist/apps/earshot/cli.js', checkout));
const folder = mkdtempSync(join(tmpdir(), 'earshot-keywords-'));

let service: InterfaceUnderTest;
let bus: Bus;

beforeAll(async () => {
  service = await startInterface();
  bus = await connectBus(service.stores.natsUrl, 'spec', createLogger('spec', 'silent'));
}, 60_000);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await bus?.close();
  await service?.stop();
});

const clientOf = ({ api }: Tenant): Client => createClient({ baseUrl: service.url, apiKey: api.apiKey });
const envOf = ({ api }: Tenant) => ({
  ...process.env,
  EARSHOT_URL: service.url,
  EARSHOT_API_KEY: api.apiKey,
});

/** A new mention as it arrives in an installation: its event, then its row. */
async function publish({ accountId }: Tenant, text: string): Promise<string> {
  const [eventId, watchId, occurredAt] = [newId(), newId(), new Date().toISOString()];
  const event = create(EventSchema, {
    ...{ accountId, watchId, eventId, occurredAt, source: 'hackernews', type: 'hn_item.created' },
    matched: { item: { itemId: eventId, text, bodyJson: '{}' } },
  });
  await new EventStore(bus).publish(
    subjectOf('EVENTS', accountId, watchId),
    toBinary(EventSchema, event),
    eventId,
  );
  const row = mentionRow(accountId, {
    occurred_at: occurredAt.replace('T', ' ').replace('Z', ''),
    event_id: eventId,
    watch_id: watchId,
    title: text,
  });
  await insertRows(service.clickhouse, 'mentions', [row]);
  return eventId;
}

describe('the client', () => {
  it('creates, changes, lists page by page and deletes keywords of a running gateway', async () => {
    const client = clientOf(await service.tenant());
    const made: string[] = [];
    for (const name of ['One', 'Two', 'Three'])
      made.push((await client.post('/v1/keywords', { body: keywordBody({ name }) as never })).id);
    const found = [];
    for await (const { name } of client.paginate('/v1/keywords', { query: { limit: 2 } })) found.push(name);
    expect(found).toEqual(['Three', 'Two', 'One']);
    const path = { id: made[0] ?? '' };
    const changed = await client.patch('/v1/queries/{id}', { path, body: { name: 'Uno' } });
    expect(changed).toMatchObject({ name: 'Uno', resetSearches: [] });
    await client.delete('/v1/keywords/{id}', { path });
    expect((await client.get('/v1/keywords/{id}', { path })).state).toBe('retired');
  });

  it('sends a repeated POST with its own key once: the answer is replayed', async () => {
    const client = clientOf(await service.tenant());
    const call = { body: keywordBody() as never, idempotencyKey: newId() };
    const [first, second] = [
      await client.post('/v1/keywords', call),
      await client.post('/v1/keywords', call),
    ];
    expect(second.id).toBe(first.id);
  });

  it('throws typed errors with the faults and the id of the request', async () => {
    const client = clientOf(await service.tenant());
    const error: unknown = await client
      .post('/v1/keywords', { body: { name: '' } as never })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(EarshotError);
    expect(error).toMatchObject({ status: 400, code: 'VALIDATION', requestId: expect.any(String) });
    expect((error as EarshotError).details.map(({ path }) => path)).toContain('sources');
    const stranger = createClient({ baseUrl: service.url, apiKey: 'ek_wrong' });
    await expect(stranger.get('/v1/account')).rejects.toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
  });

  it('streams new mentions, and continues behind the last one', async () => {
    const ada = await service.tenant();
    const client = clientOf(ada);
    const stop = new AbortController();
    const stream = client.stream({ source: 'hackernews' }, { signal: stop.signal });
    const first = stream.next();
    // The stream begins now: publish until it is there.
    let id = '';
    const seen = await until('the first mention arrives', async () => {
      id = await publish(ada, 'Acme');
      return Promise.race([first, new Promise<undefined>((resolve) => setTimeout(resolve, 500, undefined))]);
    });
    expect(seen.value?.mention.source).toBe('hackernews');
    stop.abort();
    const missed = await publish(ada, 'While nobody listened');
    const again = client.stream({}, { lastEventId: seen.value?.id ?? '' });
    const ids: string[] = [];
    for await (const { mention } of again) {
      ids.push(mention.id);
      if (mention.id === missed) break;
    }
    expect(ids).toContain(missed);
    expect(id).not.toBe('');
  }, 40_000);
});

/** Output and exit code of the command line. */
function cli(
  env: NodeJS.ProcessEnv,
  ...words: string[]
): Promise<{ code: number; out: string; errors: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, ...words], { env }, (error, out, errors) =>
      resolve({ code: error ? Number(error.code) : 0, out, errors }),
    );
  });
}

describe('mentions tail', () => {
  it('prints mentions as they arrive, without the control characters of posts, and ends with SIGTERM', async () => {
    const ada = await service.tenant();
    const child = spawn(process.execPath, [CLI, 'mentions', 'tail'], { env: envOf(ada) });
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
    await until('a mention is printed', async () => {
      await publish(ada, 'Acme\u001b[2J wins');
      await new Promise((resolve) => setTimeout(resolve, 300));
      return out.includes('\n');
    });
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(out).toContain('Acme [2J wins');
    expect(out).not.toContain('\u001b');
  }, 40_000);

  it('says what is missing or refused', async () => {
    const { EARSHOT_API_KEY: _, ...env } = envOf(await service.tenant());
    expect(await cli(env, 'mentions', 'tail')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('EARSHOT_API_KEY'),
    });
    const wrong = await cli({ ...env, EARSHOT_API_KEY: 'ek_wrong' }, 'mentions', 'tail');
    expect(wrong).toMatchObject({ code: 1, errors: expect.stringContaining('not valid') });
  });
});

describe('keywords export, plan and apply', () => {
  const file = (name: string, content?: string) => {
    const path = join(folder, name);
    if (content !== undefined) writeFileSync(path, content);
    return path;
  };
  const RICH = {
    ...keywordBody({ name: 'Rich', refresh_interval_seconds: 3600 }),
    mute_rules: ['giveaway', { value: 'spammer', target: 'author' }],
    vip_authors: ['ada'],
    sources: [
      { source: 'hackernews', enabled: true },
      {
        source: 'rss',
        enabled: true,
        searches: [{ label: 'News', overrides: { filters: { feed_urls: ['https://example.org/a.xml'] } } }],
      },
    ],
    rules: [
      {
        name: 'Star',
        when: { kind: 'item', all: [{ field: 'vip', op: 'eq', value: true }] },
        then: [{ type: 'mark', label: 'starred' }],
      },
    ],
    schedule: { startsAt: null, endsAt: null, timezone: 'Europe/Berlin' },
  };

  it('agree: an exported file has nothing to change, in another order and short forms too [code.export]', async () => {
    const ada = await service.tenant();
    expect((await ada.api.post('/v1/keywords', RICH)).status).toBe(201);
    expect((await ada.api.post('/v1/keywords', keywordBody({ name: 'Plain' }))).status).toBe(201);
    const exported = await cli(envOf(ada), 'keywords', 'export');
    expect(exported.code).toBe(0);
    expect(exported.out).not.toContain('  id:');
    const planned = await cli(envOf(ada), 'keywords', 'plan', file('same.yaml', exported.out));
    expect(planned).toMatchObject({ code: 0, out: expect.stringContaining('2 unchanged'), errors: '' });
    const short = `keywords:
  - name: Rich
    refreshIntervalSeconds: 3600
    globalCriteria: { query: acme, market: global }
    sources:
      - { enabled: true, source: hackernews }
      - source: rss
        enabled: true
        searches: [{ label: News, overrides: { filters: { feed_urls: ['https://example.org/a.xml'] } } }]
    muteRules: [giveaway, { target: author, value: spammer }]
`;
    const shortened = await cli(envOf(ada), 'keywords', 'plan', file('short.yaml', short));
    expect(shortened).toMatchObject({ code: 0, out: expect.stringContaining('Plain: not in the file') });
    // The file also fits an empty installation.
    const bob = await service.tenant();
    expect(await cli(envOf(bob), 'keywords', 'apply', file('same.yaml'))).toMatchObject({
      code: 0,
      errors: '',
    });
    expect((await cli(envOf(bob), 'keywords', 'plan', file('same.yaml'))).code).toBe(0);
  }, 60_000);

  it('show the diff, the searches that start over and the credits per month, and change exactly that [code.plan, code.apply]', async () => {
    const ada = await service.tenant();
    const { id } = (
      await ada.api.post('/v1/keywords', keywordBody({ name: 'Acme', refresh_interval_seconds: 3600 }))
    ).body;
    await ada.api.post('/v1/keywords', keywordBody({ name: 'Old' }));
    const wanted = `keywords:
  - name: Acme
    refreshIntervalSeconds: 1800
    globalCriteria: { market: global, query: acme corp }
    sources: [{ source: hackernews, enabled: true }]
  - name: New
    refreshIntervalSeconds: 3600
    globalCriteria: { market: global, query: new }
    sources: [{ source: hackernews, enabled: true }]
`;
    const path = file('wanted.yaml', wanted);
    const planned = await cli(envOf(ada), 'keywords', 'plan', path, '--delete');
    expect(planned.code).toBe(2);
    expect(planned.out).toContain('~ Acme: change, 720 → 1440 credits per month');
    expect(planned.out).toContain('refreshIntervalSeconds: 3600 → 1800');
    expect(planned.out).toContain('starts over: hackernews');
    expect(planned.out).toContain('+ New: create, 0 → 720 credits per month');
    expect(planned.out).toContain('- Old: delete, 4320 → 0 credits per month');
    expect(planned.out).toContain('Credits per month: 5040 before, 2160 after');
    expect((await ada.api.get('/v1/keywords')).body.data).toHaveLength(2);

    expect((await cli(envOf(ada), 'keywords', 'apply', path)).code).toBe(0);
    const found = (await ada.api.get('/v1/keywords?state=active')).body.data as Json[];
    expect(found.map(({ name }) => name)).toEqual(['New', 'Old', 'Acme']);
    expect(found[2]).toMatchObject({
      id,
      refreshIntervalSeconds: 1800,
      globalCriteria: { query: 'acme corp' },
    });
    expect((await cli(envOf(ada), 'keywords', 'plan', path)).code).toBe(0);

    expect((await cli(envOf(ada), 'keywords', 'apply', path, '--delete')).out).toContain('deleted Old');
    const retired = (await ada.api.get('/v1/keywords?state=retired')).body.data as Json[];
    expect(retired.map(({ name }) => name)).toEqual(['Old']);
  }, 60_000);

  it('check a change as the change itself is checked: at the limit of the plan, with the keys that the file leaves out [code.plan, estimate.change]', async () => {
    const ada = await service.tenant('free');
    const body = keywordBody({ name: 'Acme', refresh_interval_seconds: 86_400, sentiment_enabled: false });
    const { id } = (await ada.api.post('/v1/keywords', body)).body;
    const slots = limitsOf('free').searchSlots ?? 0;
    const withSearches = (count: number) => `keywords:
  - name: Acme
    refreshIntervalSeconds: 86400
    globalCriteria: { market: global, query: acme }
    sources:
      - source: hackernews
        enabled: true
        searches: [${Array.from({ length: count }, (_, n) => `{ overrides: { query: q${n} } }`).join(', ')}]
`;
    const plan = (count: number) =>
      cli(envOf(ada), 'keywords', 'plan', file('limit.yaml', withSearches(count)));
    expect(await plan(slots + 1)).toMatchObject({
      code: 1,
      errors: expect.stringContaining(`allows ${slots} search slots`),
    });
    expect((await cli(envOf(ada), 'keywords', 'apply', file('limit.yaml', withSearches(slots)))).code).toBe(
      0,
    );
    const full = await plan(slots - 1);
    expect(full).toMatchObject({ code: 2, errors: '' });
    expect(full.out).toContain(`Acme: change, ${30 * slots} → ${30 * (slots - 1)} credits per month`);
    expect((await ada.api.get(`/v1/keywords/${id}`)).body.sentimentEnabled).toBe(false);
  }, 60_000);

  it('say why they cannot read the file, and what to do', async () => {
    const ada = await service.tenant();
    const missing = join(folder, 'missing.yaml');
    for (const verb of ['plan', 'apply']) {
      const answer = await cli(envOf(ada), 'keywords', verb, missing);
      expect(answer).toMatchObject({ code: 1, out: '' });
      expect(answer.errors).toContain(
        `cannot read ${missing}: no such file; write one with \`keywords export`,
      );
    }
    expect((await cli(envOf(ada), 'keywords', 'plan', folder)).errors).toContain(
      `cannot read ${folder}: it is a folder`,
    );
  }, 40_000);

  it('refuse the whole file for one invalid keyword, and name it', async () => {
    const ada = await service.tenant();
    const valid = 'refreshIntervalSeconds: 3600, globalCriteria: { market: global, query: a }';
    const path = file(
      'bad.yaml',
      `keywords:\n  - { name: Good, ${valid}, sources: [{ source: hackernews, enabled: true }] }\n  - { name: Bad, ${valid}, sources: [{ source: usenet, enabled: true }] }\n`,
    );
    for (const verb of ['plan', 'apply']) {
      const answer = await cli(envOf(ada), 'keywords', verb, path);
      expect(answer).toMatchObject({ code: 1, out: '' });
      expect(answer.errors).toContain('"Bad" is refused');
      expect(answer.errors).toContain('source');
    }
    expect((await ada.api.get('/v1/keywords')).body.data).toEqual([]);
  }, 40_000);

  it('find keywords by name, by id where the name is not enough, and refuse what is ambiguous [code.counterpart]', async () => {
    const ada = await service.tenant();
    const twins = [];
    for (const query of ['a', 'b'])
      twins.push(
        (
          await ada.api.post(
            '/v1/keywords',
            keywordBody({ name: 'Twin', global_criteria: { market: 'global', query } }),
          )
        ).body.id,
      );
    const exported = await cli(envOf(ada), 'keywords', 'export');
    const { keywords } = parse(exported.out) as { keywords: { id: string }[] };
    expect(keywords.map(({ id }) => id).sort()).toEqual([...twins].sort());
    const path = file('twins.yaml', exported.out);
    expect((await cli(envOf(ada), 'keywords', 'plan', path)).code).toBe(0);
    const renamed = readFileSync(path, 'utf8').replace('name: Twin', 'name: Renamed');
    const plan = await cli(envOf(ada), 'keywords', 'plan', file('renamed.yaml', renamed));
    expect(plan).toMatchObject({ code: 2, out: expect.stringContaining('name: "Twin" → "Renamed"') });
    const nameless = renamed.replace(/^ *- id: .*\n +/gm, '  - ').replace('name: Twin', 'name: Other');
    expect((await cli(envOf(ada), 'keywords', 'plan', file('other.yaml', nameless))).code).toBe(2);
    const ambiguous = exported.out.replace(/^ *- id: .*\n +/m, '  - ');
    const refused = await cli(envOf(ada), 'keywords', 'plan', file('ambiguous.yaml', ambiguous));
    expect(refused).toMatchObject({
      code: 1,
      errors: expect.stringContaining('several keywords have the name'),
    });
  }, 60_000);

  it.each([
    ['not YAML', 'keywords: [', 'not valid YAML'],
    ['another key', 'queries: []', 'one key, keywords'],
    ['a missing key', 'keywords: [{ name: a }]', 'keywords[0].refreshIntervalSeconds is missing'],
  ])('name the fault of a file with %s', async (_, content, message) => {
    const answer = await cli(envOf(await service.tenant()), 'keywords', 'plan', file('faulty.yaml', content));
    expect(answer).toMatchObject({ code: 1, errors: expect.stringContaining(message) });
  });
});
