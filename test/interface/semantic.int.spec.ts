import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { insertRows, selectRows, type MentionVectorRow } from '#clickhouse';
import { EventSchema, LookupSchema } from '#contracts';
import { EventStore } from '#event-store';
import { newId } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { startService, type RunningService } from '#platform';
import { openDatabase } from '#postgres';
import { createLogger } from '#telemetry';
import { programEnv, until, type Json } from '#testing';
import { analysisService } from '../../apps/analysis/analysis.module.js';
import { readAnalysisConfig } from '../../apps/analysis/config.js';
import { expectAuditAgrees } from '../audit.js';
import { keywordBody, startInterface, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';

let service: InterfaceUnderTest;
let analysis: RunningService | undefined;
let bus: Bus;

beforeAll(async () => {
  service = await startInterface();
  await startAnalysis();
  bus = await connectBus(service.stores.natsUrl, 'spec', createLogger('spec', 'silent'));
});
afterAll(async () => {
  await analysis?.stop();
  await bus?.close();
  await service?.stop();
});

async function startAnalysis(): Promise<void> {
  const config = readAnalysisConfig(programEnv(service.stores, { LOG_LEVEL: 'silent' }));
  analysis = await startService(analysisService(config), config, false);
}

const POSTS = {
  battery: 'My handset is empty long before lunch, it hardly lasts the morning.',
  charger: 'Where can I buy a new charging cable for this phone?',
  bread: 'Their bakery sells wonderful croissants and sourdough.',
  rain: 'It has rained for three days and the garden is flooded.',
};

/** A keyword whose posts have been collected and can be searched. */
async function keywordWith(
  tenant: Tenant,
  posts: Record<string, string>,
  more: Record<string, unknown> = {},
) {
  const { body } = await tenant.api.post(
    '/v1/keywords',
    keywordBody({ name: newId(), refresh_interval_seconds: 3600, ...more }),
  );
  const [watch] = body.watches as { id: string }[];
  const ids = await publish(tenant, body.id, watch!.id, posts);
  return { id: body.id as string, watchId: watch!.id, ids };
}

async function publish(tenant: Tenant, keywordId: string, watchId: string, posts: Record<string, string>) {
  const ids: Record<string, string> = {};
  for (const [name, text] of Object.entries(posts)) {
    const event = create(EventSchema, {
      eventId: (ids[name] = newId()),
      accountId: tenant.accountId,
      watchId,
      keywordId,
      checkId: newId(),
      source: 'hackernews',
      type: 'hn_item.created',
      occurredAt: new Date(Date.now() - 60_000).toISOString(),
      envelope: new TextEncoder().encode('{}'),
      ...(name.startsWith('dropped') ? { dropped: { reason: 'muted', rule: 'x' } } : {}),
      matched: { item: { itemId: newId(), kind: 'story', text, author: name, bodyJson: '{}' } },
    });
    const subject = subjectOf('EVENTS', tenant.accountId, watchId);
    await new EventStore(bus).publish(subject, toBinary(EventSchema, event), event.eventId);
  }
  await until('every post can be searched', async () => {
    const counts = await Promise.all(
      ['mentions', 'mention_vectors'].map((table) => rowsIn(table, Object.values(ids))),
    );
    return counts.every((count) => count === Object.keys(posts).length);
  });
  return ids;
}

async function rowsIn(table: string, ids: readonly string[]): Promise<number> {
  const query = `SELECT uniqExact(event_id) AS n FROM ${table} WHERE event_id IN {ids: Array(UUID)}`;
  const rows = await selectRows<{ n: string }>(service.clickhouse, query, { ids });
  return Number(rows[0]?.n);
}

const ask = (tenant: Tenant, q: string, more = '') =>
  tenant.api.get(`/v1/mentions?mode=semantic&q=${encodeURIComponent(q)}${more}`);
const authors = (answer: { body: Json }) =>
  (answer.body.data as { author: string }[]).map(({ author }) => author);
const facts = async ({ accountId }: Tenant) =>
  (await new EventStore(bus).read('LOOKUPS', subjectOf('LOOKUPS', accountId))).map(({ data }) =>
    fromBinary(LookupSchema, data),
  );

describe('mode=semantic', () => {
  let tenant: Tenant;
  let keyword: Awaited<ReturnType<typeof keywordWith>>;
  beforeAll(async () => {
    tenant = await service.tenant();
    keyword = await keywordWith(tenant, POSTS);
  });

  it('finds the mention that says the same with other words first, with scores in order [limits.semantic-metered, search.semantic-order]', async () => {
    const answer = await ask(tenant, 'battery life of my phone is bad');
    expect([answer.status, authors(answer)[0]]).toEqual([200, 'battery']);
    const scores = (answer.body.data as { score: number }[]).map(({ score }) => score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true);
    expect(answer.body.meta).toEqual({ credits_used: 2 });
  });

  it('finds a mention by a rare word that only it has', async () => {
    const [id] = Object.values(
      await publish(tenant, keyword.id, keyword.watchId, {
        model: 'Error code XR2049 on the display again.',
      }),
    );
    expect((await ask(tenant, 'xr2049')).body.data[0].id).toBe(id);
  });

  it('charges the same question with the same filters once in ten minutes, also at the same time [limits.semantic-cache]', async () => {
    const before = (await facts(tenant)).length;
    const asked = await Promise.all(
      [1, 2, 3, 4].map(() => ask(tenant, 'weather', '&source=hackernews&lang=en')),
    );
    const again = await ask(tenant, ' weather ', '&lang=en&source=hackernews&limit=1');
    const used = [...asked, again].map(({ body }) => body.meta.credits_used as number);
    expect([used.reduce((sum, one) => sum + one), used.at(-1)]).toEqual([2, 0]);
    expect((await ask(tenant, 'weather', '&source=hackernews')).body.meta.credits_used).toBe(2);
    const charged = new Set((await facts(tenant)).slice(before).map(({ lookupId }) => lookupId));
    expect(charged.size).toBe(2);
  });

  it('charges each of several questions, and a mention counts by the nearest [credits.semantic]', async () => {
    const answer = await tenant.api.get(
      '/v1/mentions?mode=semantic&q=bread+and+cakes&q=storm+and+water&q=bread+and+cakes',
    );
    expect(new Set(authors(answer).slice(0, 2))).toEqual(new Set(['bread', 'rain']));
    expect(answer.body.meta.credits_used).toBe(4);
  });

  it('applies the other filters, the window and the keyword of the results [search.semantic-filters]', async () => {
    const other = await keywordWith(tenant, { elsewhere: 'The accumulator of the phone dies early.' });
    const all = async (more: string) => authors(await ask(tenant, 'phone power', more));
    expect(await all('&author=bread')).toEqual(['bread']);
    expect(await all('&sentiment=positive')).toEqual([]);
    expect(await all(`&keyword=${other.id}`)).toEqual(['elsewhere']);
    expect(await all(`&until=${new Date(Date.now() - 3_600_000).toISOString()}`)).toEqual([]);
    const results = await tenant.api.get(`/v1/keywords/${other.id}/results?mode=semantic&q=phone+power`);
    expect(authors(results)).toEqual(['elsewhere']);
  });

  it('leaves out dropped and hidden mentions unless they are wanted', async () => {
    const ids = await publish(tenant, keyword.id, keyword.watchId, {
      dropped: 'Submarines and torpedoes of the navy.',
      concealed: 'A submarine surfaced beside the torpedo boat.',
    });
    await tenant.api.call('PATCH', `/v1/mentions/${ids.concealed}`, { labels: ['hidden'] });
    const first = async (more = '') => authors(await ask(tenant, 'submarine with torpedoes', more))[0];
    expect(['dropped', 'concealed']).not.toContain(await first());
    expect(await first('&include=dropped')).toBe('dropped');
    expect(await first('&label=hidden')).toBe('concealed');
  });

  it('pages without repeating a mention, for free, up to the end [search.semantic-pages]', async () => {
    const found: string[] = [];
    let cursor = '';
    let used = 0;
    do {
      const page = await ask(tenant, 'anything at all', `&limit=2${cursor}`);
      found.push(...(page.body.data as { id: string }[]).map(({ id }) => id));
      used += page.body.meta.credits_used as number;
      cursor = page.body.nextCursor ? `&cursor=${page.body.nextCursor}` : '';
    } while (cursor);
    const whole = (await ask(tenant, 'anything at all', '&limit=200')).body.data as { id: string }[];
    expect([...found].sort()).toEqual(whole.map(({ id }) => id).sort());
    expect([new Set(found).size, used]).toEqual([found.length, 2]);
    const page = await ask(tenant, 'anything at all', '&limit=2');
    const foreign = await ask(tenant, 'something else', `&limit=2&cursor=${page.body.nextCursor}`);
    expect([foreign.status, foreign.body.details[0].path]).toEqual([400, 'cursor']);
  });

  it.each([
    ['no question', '', 'q'],
    ['an empty question', '&q=', 'q'],
    ['a question without words', '&q=%20%3F', 'q'],
    ['a question of 1,001 characters', `&q=${'x'.repeat(1001)}`, 'q'],
    ['six questions', `${[1, 2, 3, 4, 5, 6].map((n) => `&q=${n}`).join('')}`, 'q'],
    ['an order', '&q=a&order=asc', 'order'],
  ])('with %s returns 400 that names it', async (_, query, path) => {
    const answer = await tenant.api.get(`/v1/mentions?mode=semantic${query}`);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
  });

  it('accepts text that looks like SQL or like a search syntax', async () => {
    for (const q of [
      `'); DROP TABLE mention_vectors; --`,
      '{since: UUID}',
      '\\x00 %s "a',
      '漢字 かな',
      '😀 a',
    ])
      expect([q, (await ask(tenant, q)).status]).toEqual([q, 200]);
  });

  it("shows nothing of another account, and returns 404 for another account's keyword [search.semantic-foreign]", async () => {
    const stranger = await service.tenant();
    expect((await ask(stranger, 'battery life of my phone is bad')).body.data).toEqual([]);
    const path = `/v1/keywords/${keyword.id}/results?mode=semantic&q=phone`;
    expect((await stranger.api.get(path)).status).toBe(404);
    expect((await facts(stranger)).length).toBe(1);
  });

  it('shows nothing of a purged keyword, whose vectors are erased [search.semantic-foreign]', async () => {
    const gone = await keywordWith(tenant, { gone: 'Penguins walk over the ice of Antarctica.' });
    await tenant.api.call('DELETE', `/v1/keywords/${gone.id}?purge=true`);
    expect(authors(await ask(tenant, 'penguins on ice'))).not.toContain('gone');
    await until(
      'its vectors are erased',
      async () => (await rowsIn('mention_vectors', Object.values(gone.ids))) === 0,
    );
  });

  it('ranks every mention that passes a filter which none of the nearest pass', async () => {
    const { accountId } = tenant;
    const near = await selectRows<MentionVectorRow>(
      service.clickhouse,
      'SELECT * FROM mention_vectors WHERE event_id = {id: UUID}',
      { id: keyword.ids.battery },
    );
    // Nearer than any other, and without rows in `mentions`.
    const rows = Array.from({ length: 400 }, () => ({
      ...near[0]!,
      account_id: accountId,
      event_id: newId(),
    }));
    await insertRows<MentionVectorRow>(service.clickhouse, 'mention_vectors', rows);
    expect(authors(await ask(tenant, POSTS.battery, '&limit=50&author=rain'))).toEqual(['rain']);
  });
});

describe('POST /v1/analyses', () => {
  let tenant: Tenant;
  let ids: Record<string, string>;
  beforeAll(async () => {
    tenant = await service.tenant('free');
    ids = (
      await keywordWith(tenant, {
        ...POSTS,
        battery2: 'The battery of my phone does not last a whole day any more.',
        battery3: 'After the update the battery of the phone is empty by noon.',
      })
    ).ids;
  });

  const analyse = (body: Record<string, unknown>, headers: Record<string, string> = {}) =>
    tenant.api.call('POST', '/v1/analyses', body, headers);

  it('classifies mentions by what the labels mean, for 1 credit each [limits.analyses-metered, credits.semantic, analyses.results]', async () => {
    const classes = ['battery life of phones', 'weather and rain', 'food and bakeries'];
    const mention_ids = [ids.battery2, ids.rain, ids.bread, ids.bread];
    const { status, body } = await analyse({ operation: 'classify', mention_ids, classes });
    expect([status, (body.labels as Json[]).map((one) => one.class)]).toEqual([200, classes]);
    expect([body.meta, body.errors, body.operation]).toEqual([{ credits_used: 3 }, [], 'classify']);
  });

  it('groups mentions that mean the same [analyses.results]', async () => {
    const { body } = await analyse({ operation: 'group', mention_ids: Object.values(ids) });
    const [first] = body.groups as { mentionIds: string[] }[];
    expect(first?.mentionIds).toEqual(expect.arrayContaining([ids.battery2, ids.battery3]));
    expect((body.groups as { mentionIds: string[] }[]).flatMap((one) => one.mentionIds).sort()).toEqual(
      Object.values(ids).sort(),
    );
  });

  it('summarises mentions in sentences that cite them [analyses.results]', async () => {
    const { body } = await analyse({ operation: 'summarise', mention_ids: Object.values(ids) });
    expect(body.summary.sentences.length).toBeGreaterThan(1);
    for (const { text, mentionIds } of body.summary.sentences as { text: string; mentionIds: string[] }[]) {
      expect(mentionIds.length).toBeGreaterThan(0);
      const [own] = Object.entries(ids).find(([, id]) => id === mentionIds[0]) ?? [];
      expect({ ...POSTS, [own!]: '' }).toHaveProperty(own!);
      expect(body.summary.text).toContain(text);
    }
  });

  it('returns the first answer again for the same Idempotency-Key, and charges once [analyses.once]', async () => {
    const body = { operation: 'group', mention_ids: [ids.rain, ids.bread] };
    const [first, second] = [
      await analyse(body, { 'idempotency-key': 'k1' }),
      await analyse(body, { 'idempotency-key': 'k1' }),
    ];
    expect([second.body, first.body.meta.credits_used]).toEqual([first.body, 2]);
    expect((await facts(tenant)).filter(({ lookupId }) => lookupId === first.body.id)).toHaveLength(1);
  });

  it("returns 404 for the whole call if one mention is another account's or unknown, and costs nothing [analyses.foreign]", async () => {
    const before = (await facts(tenant)).length;
    const stranger = await service.tenant('free');
    const foreign = (await keywordWith(stranger, { theirs: 'Not yours.' })).ids;
    for (const id of [foreign.theirs, newId()]) {
      const refused = await analyse({ operation: 'group', mention_ids: [ids.rain, id] });
      expect([refused.status, refused.body.code]).toEqual([404, 'NOT_FOUND']);
    }
    expect((await facts(tenant)).length).toBe(before);
  });

  it.each([
    ['no operation', {}, 'operation'],
    ['no mention', { operation: 'group', mention_ids: [] }, 'mention_ids'],
    [
      '201 mentions',
      { operation: 'group', mention_ids: Array.from({ length: 201 }, () => newId()) },
      'mention_ids',
    ],
    ['a wrong id', { operation: 'group', mention_ids: ['x'] }, 'mention_ids[0]'],
    ['one class', { operation: 'classify', mention_ids: [newId()], classes: ['a'] }, 'classes'],
    ['no classes', { operation: 'classify', mention_ids: [newId()] }, 'classes'],
    [
      'classes that group does not read',
      { operation: 'group', mention_ids: [newId()], classes: ['a', 'b'] },
      'classes',
    ],
    [
      'an agent without its schema',
      { operation: 'agent', mention_ids: [newId()], instruction: 'x' },
      'schema',
    ],
  ])('with %s returns 400 that names it', async (_, body, path) => {
    const refused = await analyse(body);
    expect([refused.status, (refused.body.details as Json[]).map((one) => one.path)]).toEqual([
      400,
      expect.arrayContaining([path]),
    ]);
  });

  it('is refused with 402 before any work if the credits do not cover every mention [analyses.credits]', async () => {
    const poor = await service.tenant('free');
    const own = (await keywordWith(poor, POSTS)).ids;
    const database = await openDatabase(service.stores.databaseUrl, 'spec', 1);
    await database.query('UPDATE credit_balances SET balance = 3 WHERE account_id = $1', [poor.accountId]);
    await database.destroy();
    const body = { operation: 'group', mention_ids: Object.values(own) };
    const refused = await poor.api.call('POST', '/v1/analyses', body);
    expect([refused.status, refused.body.code]).toEqual([402, 'INSUFFICIENT_CREDITS']);
    expect(await facts(poor)).toEqual([]);
  });

  it('is in the ledger, and the audit agrees', async () => {
    await expectAuditAgrees(service.stores, tenant.accountId);
    const { body } = await tenant.api.get('/v1/credits');
    expect([body.byOperation.analysis_classify, body.creditsHeld]).toEqual([3, 0]);
  });
});

describe('the charge of a semantic question', () => {
  it('is in the balance and the ledger, and the audit agrees', async () => {
    const tenant = await service.tenant('free');
    await ask(tenant, 'anything');
    await tenant.api.get('/v1/mentions?mode=semantic&q=one&q=two');
    await expectAuditAgrees(service.stores, tenant.accountId);
    const { body } = await tenant.api.get('/v1/credits');
    expect([body.byOperation, body.bySource, body.creditsHeld]).toEqual([{ semantic_search: 6 }, {}, 0]);
    const ledger = (await tenant.api.get('/v1/credits/ledger?kind=charge')).body.data as Json[];
    expect(ledger.map(({ amount, operation, source }) => [amount, operation, source])).toEqual([
      [-4, 'semantic_search', null],
      [-2, 'semantic_search', null],
    ]);
  });

  it('is refused with 402 before any work if the credits are missing', async () => {
    const tenant = await service.tenant('free');
    const database = await openDatabase(service.stores.databaseUrl, 'spec', 1);
    await database.query('UPDATE credit_balances SET balance = 1 WHERE account_id = $1', [tenant.accountId]);
    await database.destroy();
    const refused = await ask(tenant, 'anything');
    expect([refused.status, refused.body.code]).toEqual([402, 'INSUFFICIENT_CREDITS']);
    expect(await facts(tenant)).toEqual([]);
  });

  it('is not made if the mentions cannot be read or analysis does not run', async () => {
    const tenant = await service.tenant('free');
    await service.clickhouse.command({ query: 'RENAME TABLE mention_vectors TO mention_vectors_away' });
    expect((await ask(tenant, 'anything')).status).toBeGreaterThanOrEqual(500);
    await service.clickhouse.command({ query: 'RENAME TABLE mention_vectors_away TO mention_vectors' });
    expect(await facts(tenant)).toEqual([]);
    expect((await tenant.api.get('/v1/credits')).body.creditsHeld).toBe(0);
    await analysis?.stop();
    analysis = undefined;
    const refused = await ask(tenant, 'anything');
    expect([refused.status, refused.body.code]).toEqual([503, 'UNAVAILABLE']);
    await startAnalysis();
    const answered = await until('analysis answers again', async () => {
      const answer = await ask(tenant, 'anything');
      return answer.status === 200 ? answer : undefined;
    });
    expect(answered.body.meta.credits_used).toBe(2);
  });
});
