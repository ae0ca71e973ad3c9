import { create, toBinary } from '@bufbuild/protobuf';
import { AccountDecisionSchema, PRICE_BOOK_VERSION } from '#contracts';
import { EventStore } from '#event-store';
import { isoOf, newId } from '#kernel';
import { connectBus, subjectOf } from '#messaging';
import { startService } from '#platform';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { programEnv, until, type Json } from '#testing';
import { readKeywordsConfig } from '../../apps/keywords/config.js';
import { keywordsService } from '../../apps/keywords/keywords.module.js';
import { connectBilling, type BillingUnderTest } from './billing-under-test.js';
import { keywordBody, startInterface, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';

let service: InterfaceUnderTest;
let billing: BillingUnderTest;
let database: Database;

beforeAll(async () => {
  service = await startInterface();
  billing = await connectBilling(service.stores.natsUrl);
  database = await openDatabase(service.stores.databaseUrl, 'spec');
});
afterAll(async () => {
  await database?.destroy();
  await billing?.stop();
  await service?.stop();
});

const made = async (as: Tenant, more: object = {}): Promise<Json> => {
  const { body } = await as.api.post('/v1/keywords', keywordBody(more as Record<string, unknown>));
  // A create always returns warnings; a read returns them only about what the installation can no longer do.
  const { warnings: _, ...keyword } = body as Json;
  return keyword as Json;
};
const read = async (as: Tenant, keyword: Json): Promise<Json> =>
  (await as.api.get(`/v1/keywords/${keyword.id}`)).body;
const untilPaused = (as: Tenant, keyword: Json, reason: string | null) =>
  until(
    `${keyword.name} ${reason === null ? 'runs' : `is paused for ${reason}`}`,
    async () => (await read(as, keyword)).pausedReason === reason,
  );

describe('a keyword that exceeds a smaller plan', () => {
  it('can be sent back unchanged, and accepts changes that break no limit of the plan', async () => {
    const ada = await service.tenant('solo');
    const keyword = await made(ada, { webhook_url: 'https://example.org/hook' });
    await billing.changePlan(ada.accountId, 'free');
    await untilPaused(ada, keyword, 'plan');
    const now = await read(ada, keyword);
    const same = await ada.api.patch(`/v1/queries/${keyword.id}`, now);
    expect([same.status, same.body]).toEqual([200, { ...now, resetSearches: [] }]);
    const cleared = await ada.api.patch(`/v1/queries/${keyword.id}`, { webhookUrl: null });
    expect([cleared.status, cleared.body.webhookUrl]).toEqual([200, null]);
    const tooShort = await ada.api.patch(`/v1/queries/${keyword.id}`, { refreshIntervalSeconds: 601 });
    expect([tooShort.status, tooShort.body.code]).toEqual([400, 'INTERVAL_TOO_LOW']);
  });

  it('can be made smaller while it still exceeds the limit', async () => {
    const ada = await service.tenant('solo');
    const searches = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ overrides: { query: `q${n}` } }));
    const sources = (count: number) => [
      { source: 'hackernews', enabled: true, refreshIntervalSeconds: 3600, searches: searches(count) },
    ];
    const keyword = await made(ada, { sources: sources(10) });
    await billing.changePlan(ada.accountId, 'free');
    await untilPaused(ada, keyword, 'plan');
    const patch = (count: number) => ada.api.patch(`/v1/keywords/${keyword.id}`, { sources: sources(count) });
    expect((await patch(8)).status).toBe(200);
    expect((await patch(9)).body.code).toBe('PLAN_LIMIT');
    expect((await ada.api.post(`/v1/keywords/${keyword.id}/resume`, {})).body).toMatchObject({
      code: 'PLAN_LIMIT',
      details: [{ path: '' }],
    });
    expect((await patch(6)).status).toBe(200);
    expect((await ada.api.post(`/v1/keywords/${keyword.id}/resume`, {})).body.state).toBe('active');
  });
});

describe('a lone watch that exceeds a smaller plan', () => {
  it('runs again if it is resumed with an interval that is long enough', async () => {
    const ada = await service.tenant('solo');
    const body = { criteria: { query: 'acme' }, refresh_interval_seconds: 600 };
    const watch = (await ada.api.post('/v1/hackernews/watches', body)).body;
    const path = `/v1/hackernews/watches/${watch.id}`;
    await billing.changePlan(ada.accountId, 'free');
    await until('the watch is paused', async () => (await ada.api.get(path)).body.pausedReason === 'plan');
    expect((await ada.api.patch(path, { is_active: true })).body.code).toBe('INTERVAL_TOO_LOW');
    const { body: runs } = await ada.api.patch(path, { refresh_interval_seconds: 3600, is_active: true });
    expect(runs).toMatchObject({ isActive: true, pausedReason: null, refreshIntervalSeconds: 3600 });
  });

  it('accepts a longer interval, but cannot be resumed, if it has too many terms', async () => {
    const ada = await service.tenant('solo');
    const terms = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => `acme${letter}`);
    const body = { criteria: { terms }, refresh_interval_seconds: 3600 };
    const watch = (await ada.api.post('/v1/hackernews/watches', body)).body;
    const path = `/v1/hackernews/watches/${watch.id}`;
    await billing.changePlan(ada.accountId, 'free');
    await until('the watch is paused', async () => (await ada.api.get(path)).body.pausedReason === 'plan');
    const { body: longer } = await ada.api.patch(path, { refresh_interval_seconds: 7200 });
    expect(longer).toMatchObject({ pausedReason: 'plan', refreshIntervalSeconds: 7200 });
    expect((await ada.api.patch(path, { is_active: true })).body.code).toBe('PLAN_LIMIT');
    expect((await ada.api.patch(path, { refresh_interval_seconds: 600 })).body.code).toBe('INTERVAL_TOO_LOW');
  });
});

describe('a smaller plan that the tables do not contain yet', () => {
  it('is enforced as soon as the tables contain it', async () => {
    const ada = await service.tenant('solo');
    const keyword = await made(ada);
    const subject = subjectOf('ACCOUNTS', ada.accountId);
    // While a transaction has this lock, the tables cannot be updated.
    const held = database.createQueryRunner();
    await held.startTransaction();
    await held.query('SELECT 1 FROM projection_positions WHERE subject = $1 FOR UPDATE', [subject]);
    const bus = await connectBus(service.stores.natsUrl, 'spec', createLogger('spec', 'silent'));
    try {
      const store = new EventStore(bus);
      const commandId = newId();
      const decision = create(AccountDecisionSchema, {
        commandId,
        accountId: ada.accountId,
        decidedAt: isoOf(Date.now()),
        events: [{ event: { case: 'planChanged', value: { plan: 'free' } } }],
      });
      const data = toBinary(AccountDecisionSchema, decision);
      const seq = await store.append(subject, data, await store.lastSeq('ACCOUNTS', subject), commandId);
      await until('the decision was delivered', async () => {
        const plans = await bus.jsm.consumers.info('ACCOUNTS', 'keywords-plans');
        return plans.num_redelivered > 0 || plans.ack_floor.stream_seq >= seq;
      });
      await held.rollbackTransaction();
      await untilPaused(ada, keyword, 'plan');
    } finally {
      await held.release();
      await bus.close();
    }
  });
});

describe('keywords that are paused for lack of credits', () => {
  it('run again one by one, oldest first, while the new credits are sufficient', async () => {
    const ada = await service.tenant('free');
    const keywords = [
      await made(ada, { name: 'old', refresh_interval_seconds: 3600 }),
      await made(ada, { name: 'new', refresh_interval_seconds: 3600 }),
    ];
    await billing.spend(ada.accountId, 3000);
    await until(
      'all credits are used',
      async () => (await ada.api.get('/v1/credits')).body.creditsRemaining === 0,
    );
    for (const { id, watches } of keywords) await billing.refuse(ada.accountId, id, watches[0].id, 5);
    for (const keyword of keywords) await untilPaused(ada, keyword, 'insufficient_credits');
    await billing.grant(ada.accountId, 9);
    await untilPaused(ada, keywords[0], null);
    // As if a check of the first keyword were running: its maximum cost is reserved.
    await database.query(
      `INSERT INTO credit_reservations (reservation_id, account_id, amount, expires_at)
       VALUES (gen_random_uuid(), $1, 5, now() + interval '1 hour')`,
      [ada.accountId],
    );
    await billing.grant(ada.accountId, 1);
    await untilPaused(ada, keywords[1], null);
  });
});

describe('a keyword whose next start or end is stored with a time in the past', () => {
  it('gets the next start or end of its schedule instead, and nothing else changes', async () => {
    const ada = await service.tenant();
    const startsAt = new Date(Date.now() + 3_600_000).toISOString();
    const keyword = await made(ada, { schedule: { startsAt, endsAt: null, timezone: 'UTC' } });
    await database.query(
      `UPDATE keywords SET schedule_turns_at = now() - interval '1 day' WHERE keyword_id = $1`,
      [keyword.id],
    );
    await until('the row has its next schedule change', async () => {
      const rows: Json[] = await database.query(
        'SELECT schedule_turns_at AS at FROM keywords WHERE keyword_id = $1',
        [keyword.id],
      );
      return rows[0].at.toISOString() === startsAt;
    });
    expect(await read(ada, keyword)).toEqual(keyword);
  });
});

describe('the first start on data of an older version', () => {
  it('pauses keywords that exceed the plan, and gives prices and quotes to the other keywords', async () => {
    const ada = await service.tenant('free');
    const fast = await made(ada, { name: 'fast', refresh_interval_seconds: 3600 });
    const fits = await made(ada, { name: 'fits', refresh_interval_seconds: 3600 });
    const ids = [fast.id, fits.id];
    // Like data of an older version: an interval that the plan does not allow, no prices, no quotes.
    await database.query(
      `UPDATE keywords SET definition = jsonb_set(definition, '{refreshIntervalSeconds}', '60') WHERE keyword_id = $1`,
      [fast.id],
    );
    await database.query(
      `UPDATE watches SET credits_per_check = 0, price_book_version = '' WHERE keyword_id = ANY ($1)`,
      [ids],
    );
    await database.query('DELETE FROM quoted_periods WHERE keyword_id = ANY ($1)', [ids]);
    const config = readKeywordsConfig(programEnv(service.stores, { LOG_LEVEL: 'silent' }));
    const started = await startService(keywordsService(config), config, false);
    try {
      await untilPaused(ada, fast, 'plan');
      const quotes = () =>
        database.query(
          `SELECT keyword_id, credits_per_check, price_book_version FROM quoted_periods WHERE keyword_id = ANY ($1)`,
          [ids],
        );
      await until('running watches have a quote', async () => ((await quotes()) as Json[]).length > 0);
      expect(await quotes()).toEqual([
        { keyword_id: fits.id, credits_per_check: 1, price_book_version: PRICE_BOOK_VERSION },
      ]);
      expect((await read(ada, fits)).state).toBe('active');
    } finally {
      await started.stop();
    }
  });
});
