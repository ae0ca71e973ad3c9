import { until, type Json } from '#testing';
import { connectBilling, type BillingUnderTest } from './billing-under-test.js';
import { keywordBody, startInterface, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';

let service: InterfaceUnderTest;
let billing: BillingUnderTest;
let ada: Tenant;

beforeAll(async () => {
  service = await startInterface();
  billing = await connectBilling(service.stores.natsUrl);
  ada = await service.tenant();
});
afterAll(async () => {
  await billing?.stop();
  await service?.stop();
});

const made = async (more: object = {}, as = ada): Promise<Json> => {
  const { body } = await as.api.post('/v1/keywords', keywordBody(more as Record<string, unknown>));
  // A read of these keywords returns no warnings.
  const { warnings: _, ...keyword } = body as Json;
  return keyword as Json;
};
const read = async (keyword: Json, as = ada): Promise<Json> =>
  (await as.api.get(`/v1/keywords/${keyword.id}`)).body;
const change = (keyword: Json, verb: string, as = ada, name = 'keywords') =>
  as.api.post(`/v1/${name}/${keyword.id}/${verb}`, {});
const becomes = (keyword: Json, expected: object, as = ada) =>
  until(JSON.stringify(expected), async () => {
    const { state, pausedReason } = await read(keyword, as);
    const want = expected as Json;
    return state === want.state && pausedReason === want.pausedReason;
  });

describe('pausing a keyword', () => {
  it.each(['keywords', 'queries'])(
    'pauses its watches until the keyword is resumed, under /v1/%s [keywords.pause, keywords.pause-user, states.watch-paused]',
    async (name) => {
      const keyword = await made();
      const paused = await change(keyword, 'pause', ada, name);
      expect([paused.status, paused.body]).toMatchObject([
        200,
        { id: keyword.id, state: 'paused', pausedReason: 'user', version: 2 },
      ]);
      expect(paused.body.watches).toMatchObject([{ isActive: false, pausedReason: 'user' }]);
      const resumed = await change(keyword, 'resume', ada, name);
      expect([resumed.status, resumed.body]).toEqual([
        200,
        { ...keyword, version: 3, updatedAt: resumed.body.updatedAt },
      ]);
    },
  );

  it('changes nothing if the keyword is already paused, like resuming a running keyword [keywords.pause]', async () => {
    const keyword = await made();
    expect((await change(keyword, 'resume')).body).toEqual(keyword);
    const paused = (await change(keyword, 'pause')).body;
    expect(await change(keyword, 'pause')).toMatchObject({ status: 200, body: paused });
  });

  it('is refused for an unknown or retired keyword, and for a keyword of another account', async () => {
    const keyword = await made();
    const eve = await service.tenant();
    for (const verb of ['pause', 'resume']) {
      expect((await change(keyword, verb, eve)).status).toBe(404);
      expect((await change({ id: 'nope' }, verb)).status).toBe(404);
    }
    await ada.api.delete(`/v1/keywords/${keyword.id}`);
    for (const verb of ['pause', 'resume'])
      expect(await change(keyword, verb)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
  });
});

describe('a schedule', () => {
  const schedule = (startsAt: string | null, endsAt: string | null) => ({
    startsAt,
    endsAt,
    timezone: 'UTC',
  });
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();

  it('pauses the keyword before it begins and after it has ended [keywords.schedule]', async () => {
    for (const body of [schedule(inSeconds(3600), null), schedule(null, inSeconds(-3600))]) {
      const keyword = await made({ schedule: body });
      expect(keyword).toMatchObject({ state: 'paused', pausedReason: 'schedule' });
      expect(keyword.watches).toMatchObject([{ isActive: false, pausedReason: 'schedule' }]);
    }
    expect(await made({ schedule: schedule(inSeconds(-3600), inSeconds(3600)) })).toMatchObject({
      state: 'active',
    });
  });

  it('starts and pauses the keyword at its two times, without a request', async () => {
    const keyword = await made({ schedule: schedule(inSeconds(1.5), inSeconds(4)) });
    expect(keyword.pausedReason).toBe('schedule');
    await becomes(keyword, { state: 'active', pausedReason: null });
    await becomes(keyword, { state: 'paused', pausedReason: 'schedule' });
  });

  it('is interpreted in its own time zone [keywords.timezone]', async () => {
    const clock = (zone: string, ms: number) =>
      new Date(ms).toLocaleString('sv-SE', { timeZone: zone }).replace(' ', 'T');
    const soon = { startsAt: clock('Asia/Tokyo', Date.now() - 60_000), endsAt: null, timezone: 'Asia/Tokyo' };
    expect((await made({ schedule: soon })).state).toBe('active');
    expect((await made({ schedule: { ...soon, timezone: 'America/New_York' } })).state).toBe('paused');
  });

  it('refuses a resume before the schedule begins, until the schedule is cleared', async () => {
    const keyword = await made({ schedule: schedule(inSeconds(3600), null) });
    expect(await change(keyword, 'resume')).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    const { body } = await ada.api.patch(`/v1/keywords/${keyword.id}`, { schedule: null });
    expect(body).toMatchObject({ state: 'active', pausedReason: null, schedule: null });
  });
});

describe('credits that run out', () => {
  it('pause a keyword when a check cannot be paid, until there are enough credits [keywords.pause-credits]', async () => {
    const poor = await service.tenant('free');
    const keyword = await made({ refresh_interval_seconds: 3600 }, poor);
    await billing.spend(poor.accountId, 2999);
    await until(
      'the check is charged',
      async () => (await poor.api.get('/v1/credits')).body.creditsRemaining === 1,
    );
    await billing.refuse(poor.accountId, keyword.id, keyword.watches[0].id, 5);
    await becomes(keyword, { state: 'paused', pausedReason: 'insufficient_credits' }, poor);
    expect(await change(keyword, 'resume', poor)).toMatchObject({
      status: 402,
      body: { code: 'INSUFFICIENT_CREDITS', error: '5 credits are needed, 1 is left' },
    });
    await billing.grant(poor.accountId, 3);
    expect((await read(keyword, poor)).state).toBe('paused');
    await billing.grant(poor.accountId, 1);
    await becomes(keyword, { state: 'active', pausedReason: null }, poor);
  });

  it('pause a lone watch until there are enough credits', async () => {
    const poor = await service.tenant('free');
    const body = { criteria: { query: 'acme' }, refresh_interval_seconds: 3600 };
    const watch = (await poor.api.post('/v1/hackernews/watches', body)).body;
    const path = `/v1/hackernews/watches/${watch.id}`;
    await billing.spend(poor.accountId, 3000);
    await until(
      'the check is charged',
      async () => (await poor.api.get('/v1/credits')).body.creditsRemaining === 0,
    );
    await billing.refuse(poor.accountId, '', watch.id, 1);
    await until(
      'the watch is paused',
      async () => (await poor.api.get(path)).body.pausedReason === 'insufficient_credits',
    );
    await billing.grant(poor.accountId, 1);
    await until('the watch runs', async () => (await poor.api.get(path)).body.isActive === true);
  });

  it('do not pause a keyword if its account has enough credits when the unpaid check is processed', async () => {
    const keyword = await made();
    await billing.refuse(ada.accountId, keyword.id, keyword.watches[0].id, 5);
    const poor = await service.tenant('free');
    const other = await made({ refresh_interval_seconds: 3600 }, poor);
    await billing.refuse(poor.accountId, other.id, other.watches[0].id, 5000);
    await becomes(other, { state: 'paused', pausedReason: 'insufficient_credits' }, poor);
    expect(await read(keyword)).toEqual(keyword);
  });

  it('cause a 402 with the needed and the remaining credits if the first checks of a new keyword cannot be paid [errors.credits]', async () => {
    const poor = await service.tenant('free');
    await billing.spend(poor.accountId, 3000);
    await until(
      'the check is charged',
      async () => (await poor.api.get('/v1/credits')).body.creditsRemaining === 0,
    );
    const body = keywordBody({ refresh_interval_seconds: 3600 });
    const answer = await poor.api.post('/v1/keywords', body);
    expect([answer.status, answer.body]).toEqual([
      402,
      {
        error: '1 credit is needed, 0 are left',
        code: 'INSUFFICIENT_CREDITS',
        details: [{ path: 'credits', message: '1 credit is needed, 0 are left' }],
      },
    ]);
    expect((await poor.api.post('/v1/keywords/estimate', body)).body.refusal.status).toBe(402);
  });
});

describe('several reasons to pause', () => {
  it('apply independently: the keyword runs only when no reason is left', async () => {
    const poor = await service.tenant('free');
    const keyword = await made({ refresh_interval_seconds: 3600 }, poor);
    await billing.refuse(poor.accountId, keyword.id, keyword.watches[0].id, 5000);
    await becomes(keyword, { state: 'paused', pausedReason: 'insufficient_credits' }, poor);
    expect((await change(keyword, 'pause', poor)).body.pausedReason).toBe('user');
    await billing.grant(poor.accountId, 5000);
    await until('only the user’s reason is left', async () => (await read(keyword, poor)).version === 4);
    expect((await read(keyword, poor)).pausedReason).toBe('user');
    expect((await change(keyword, 'resume', poor)).body).toMatchObject({
      state: 'active',
      pausedReason: null,
    });
  });
});
