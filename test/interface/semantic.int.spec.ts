import { insertRows, selectRows, type MentionVectorRow } from '#clickhouse';
import { newId } from '#kernel';
import { openDatabase } from '#postgres';
import { until, type Json } from '#testing';
import { expectAuditAgrees } from '../audit.js';
import type { Tenant } from './interface-under-test.js';
import { analysisTasks } from './analysis-tasks.js';
import { authors, POSTS, SemanticScene } from './semantic-scene.js';

const scene = new SemanticScene();
const { keywordWith, publish, rowsIn, ask, facts } = scene;

beforeAll(() => scene.start());
afterAll(() => scene.stop());

describe('mode=semantic', () => {
  let tenant: Tenant;
  let keyword: Awaited<ReturnType<typeof keywordWith>>;
  beforeAll(async () => {
    tenant = await scene.service.tenant();
    keyword = await keywordWith(tenant, POSTS);
  });

  it('puts the mention that says the same in different words first, and sorts mentions by their score [limits.semantic-metered, search.semantic-order]', async () => {
    const answer = await ask(tenant, 'battery life of my phone is bad');
    expect([answer.status, authors(answer)[0]]).toEqual([200, 'battery']);
    const scores = (answer.body.data as { score: number }[]).map(({ score }) => score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true);
    expect(answer.body.meta).toEqual({ credits_used: 2 });
  });

  it('finds a mention by a rare word that no other mention has', async () => {
    const [id] = Object.values(
      await publish(tenant, keyword.id, keyword.watchId, {
        model: 'Error code XR2049 on the display again.',
      }),
    );
    expect((await ask(tenant, 'xr2049')).body.data[0].id).toBe(id);
  });

  it('charges a repeated question only once, even if it is asked several times at the same time [limits.semantic-cache]', async () => {
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

  it('runs at most ten searches of an account at the same time, and answers other accounts meanwhile', async () => {
    const other = await scene.service.tenant();
    const asked = Promise.all(Array.from({ length: 30 }, (_, n) => ask(tenant, `question ${n}`)));
    const ofOther = await ask(other, 'a question of another account');
    const answers = await asked;
    const refused = answers.filter(({ status }) => status !== 200);
    expect([ofOther.status, refused.length > 0, answers.length - refused.length >= 10]).toEqual([
      200,
      true,
      true,
    ]);
    for (const { status, body } of refused)
      expect([status, body.error]).toEqual([
        429,
        '10 searches by meaning of this account are already running; wait until one ends',
      ]);
    expect((await ask(tenant, 'one more question')).status).toBe(200);
  });

  it('charges each different `q` once, and scores a mention by the nearest `q` [credits.semantic]', async () => {
    const answer = await tenant.api.get(
      '/v1/mentions?mode=semantic&q=bread+and+cakes&q=storm+and+water&q=bread+and+cakes',
    );
    expect(new Set(authors(answer).slice(0, 2))).toEqual(new Set(['bread', 'rain']));
    expect(answer.body.meta.credits_used).toBe(4);
  });

  it('applies the other filters, the time window, and the keyword in the path of `/results` [search.semantic-filters]', async () => {
    const other = await keywordWith(tenant, { elsewhere: 'The accumulator of the phone dies early.' });
    const all = async (more: string) => authors(await ask(tenant, 'phone power', more));
    expect(await all('&author=bread')).toEqual(['bread']);
    expect(await all('&sentiment=positive')).toEqual([]);
    expect(await all(`&keyword=${other.id}`)).toEqual(['elsewhere']);
    expect(await all(`&until=${new Date(Date.now() - 3_600_000).toISOString()}`)).toEqual([]);
    const results = await tenant.api.get(`/v1/keywords/${other.id}/results?mode=semantic&q=phone+power`);
    expect(authors(results)).toEqual(['elsewhere']);
  });

  it('leaves out dropped and hidden mentions unless the request includes them', async () => {
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

  it('returns further pages up to the end, for free, without repeating a mention [search.semantic-pages]', async () => {
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
    ['a request without a question', '', 'q'],
    ['an empty question', '&q=', 'q'],
    ['a question without words', '&q=%20%3F', 'q'],
    ['a question of 1,001 characters', `&q=${'x'.repeat(1001)}`, 'q'],
    ['six questions', `${[1, 2, 3, 4, 5, 6].map((n) => `&q=${n}`).join('')}`, 'q'],
    ['a request with an order', '&q=a&order=asc', 'order'],
  ])('returns 400 with the name of the parameter for %s', async (_, query, path) => {
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
    const otherTenant = await scene.service.tenant();
    expect((await ask(otherTenant, 'battery life of my phone is bad')).body.data).toEqual([]);
    const path = `/v1/keywords/${keyword.id}/results?mode=semantic&q=phone`;
    expect((await otherTenant.api.get(path)).status).toBe(404);
    expect((await facts(otherTenant)).length).toBe(1);
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

  it('finds mentions that pass a filter, even if none of the nearest mentions passes the filter', async () => {
    const { accountId } = tenant;
    const near = await selectRows<MentionVectorRow>(
      scene.service.clickhouse,
      'SELECT * FROM mention_vectors WHERE event_id = {id: UUID}',
      { id: keyword.ids.battery },
    );
    // These vectors are as near as the nearest post, and have no rows in `mentions`.
    const rows = Array.from({ length: 400 }, () => ({
      ...near[0]!,
      account_id: accountId,
      event_id: newId(),
    }));
    await insertRows<MentionVectorRow>(scene.service.clickhouse, 'mention_vectors', rows);
    expect(authors(await ask(tenant, POSTS.battery, '&limit=50&author=rain'))).toEqual(['rain']);
  });
});

analysisTasks(scene);

describe('the charge of a semantic question', () => {
  it('is in the balance and the ledger, and the audit agrees', async () => {
    const tenant = await scene.service.tenant('free');
    await ask(tenant, 'anything');
    await tenant.api.get('/v1/mentions?mode=semantic&q=one&q=two');
    await expectAuditAgrees(scene.service.stores, tenant.accountId);
    const { body } = await tenant.api.get('/v1/credits');
    expect([body.byOperation, body.bySource, body.creditsReserved]).toEqual([{ semantic_search: 6 }, {}, 0]);
    const ledger = (await tenant.api.get('/v1/credits/ledger?kind=charge')).body.data as Json[];
    expect(ledger.map(({ amount, operation, source }) => [amount, operation, source])).toEqual([
      [-4, 'semantic_search', null],
      [-2, 'semantic_search', null],
    ]);
  });

  it('is not made if the credits are missing, and the answer is 402 before any work', async () => {
    const tenant = await scene.service.tenant('free');
    const database = await openDatabase(scene.service.stores.databaseUrl, 'spec', 1);
    await database.query('UPDATE credit_balances SET balance = 1 WHERE account_id = $1', [tenant.accountId]);
    await database.destroy();
    const refused = await ask(tenant, 'anything');
    expect([refused.status, refused.body.code]).toEqual([402, 'INSUFFICIENT_CREDITS']);
    expect(await facts(tenant)).toEqual([]);
  });

  it('is not made if the mentions cannot be read or analysis does not run', async () => {
    const tenant = await scene.service.tenant('free');
    await scene.service.clickhouse.command({ query: 'RENAME TABLE mention_vectors TO mention_vectors_away' });
    expect((await ask(tenant, 'anything')).status).toBeGreaterThanOrEqual(500);
    await scene.service.clickhouse.command({ query: 'RENAME TABLE mention_vectors_away TO mention_vectors' });
    expect(await facts(tenant)).toEqual([]);
    expect((await tenant.api.get('/v1/credits')).body.creditsReserved).toBe(0);
    await scene.stopAnalysis();
    const refused = await ask(tenant, 'anything');
    expect([refused.status, refused.body.code]).toEqual([503, 'UNAVAILABLE']);
    await scene.startAnalysis();
    const answered = await until('analysis answers again', async () => {
      const answer = await ask(tenant, 'anything');
      return answer.status === 200 ? answer : undefined;
    });
    expect(answered.body.meta.credits_used).toBe(2);
  });
});
