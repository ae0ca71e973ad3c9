import { create, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { ChangePlanSchema, CheckSchema, EventSchema, GrantCreditsSchema, LookupSchema } from '#contracts';
import { EventStore } from '#event-store';
import { newId } from '#kernel';
import { COMMANDS, connectBus, subjectOf, type Bus } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { until, type Json } from '#testing';
import { CommandClient } from '#transport';
import { creditLedgerTasks } from './credit-ledger-tasks.js';
import { startInterface, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';

let service: InterfaceUnderTest;
let bus: Bus;
let store: EventStore;
let database: Database;

beforeAll(async () => {
  service = await startInterface();
  bus = await connectBus(service.stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  store = new EventStore(bus);
  database = await openDatabase(service.stores.databaseUrl, 'spec');
});
afterAll(async () => {
  await bus?.close();
  await database?.destroy();
  await service?.stop();
});

const AT = '2026-03-04T05:06:07.089Z';

async function checked(accountId: string, more: MessageInitShape<typeof CheckSchema> = {}) {
  const check = create(CheckSchema, {
    checkId: newId(),
    accountId,
    watchId: newId(),
    source: 'reddit',
    finishedAt: AT,
    part: 1,
    parts: 1,
    costCredits: 2,
    rateCredits: 2,
    units: 1,
    priceBookVersion: '2026-11-20',
    ...more,
  });
  const subject = subjectOf('CHECKS', accountId, check.watchId);
  await store.publish(subject, toBinary(CheckSchema, check), newId());
  return check;
}

function grant(accountId: string, amount: number, more: MessageInitShape<typeof GrantCreditsSchema> = {}) {
  const command = create(GrantCreditsSchema, { commandId: newId(), accountId, amount, ...more });
  return new CommandClient(bus).request(COMMANDS.grantCredits, command);
}

async function used(tenant: Tenant, credits: number): Promise<Json> {
  return until(`${credits} credits are used`, async () => {
    const { body } = await tenant.api.get('/v1/credits');
    return body.usedThisPeriod === credits ? body : undefined;
  });
}

describe('GET /v1/credits', () => {
  it('returns the allowance of the plan for a period of a month if the account is new [credits.balance]', async () => {
    const { api } = await service.tenant('solo');
    const { status, body } = await api.get('/v1/credits');
    expect([status, body]).toEqual([
      200,
      {
        plan: 'solo',
        periodStart: expect.stringMatching(/Z$/),
        periodEnd: expect.stringMatching(/Z$/),
        monthlyAllowance: 60_000,
        allowanceRemaining: 60_000,
        packs: [],
        creditsRemaining: 60_000,
        creditsReserved: 0,
        usedThisPeriod: 0,
        bySource: {},
        byOperation: {},
      },
    ]);
    const days = (Date.parse(body.periodEnd) - Date.parse(body.periodStart)) / 86_400_000;
    expect([28, 29, 30, 31]).toContain(days);
  });

  it('returns the cost of checks, of lookups and of the readings of events, by source and by operation [credits.balance]', async () => {
    const tenant = await service.tenant('free');
    const { accountId } = tenant;
    await checked(accountId);
    await checked(accountId, { source: 'x', firstScan: true, costCredits: 7, rateCredits: 1, units: 7 });
    const lookup = create(LookupSchema, {
      lookupId: newId(),
      accountId,
      source: 'x',
      operation: 'tweets',
      at: AT,
      costCredits: 3,
      billed: true,
    });
    await store.publish(subjectOf('LOOKUPS', accountId), toBinary(LookupSchema, lookup), lookup.lookupId);
    const event = create(EventSchema, {
      eventId: newId(),
      accountId,
      watchId: newId(),
      source: 'reddit',
      occurredAt: AT,
      charges: [
        { operation: 'analysis', costCredits: 1, priceBookVersion: '2026-11-20' },
        { operation: 'agent_step', costCredits: 2, priceBookVersion: '2026-11-20' },
      ],
    });
    await store.publish(
      subjectOf('EVENTS', accountId, event.watchId),
      toBinary(EventSchema, event),
      event.eventId,
    );
    expect(await used(tenant, 15)).toMatchObject({
      allowanceRemaining: 2985,
      creditsRemaining: 2985,
      bySource: { x: 10, reddit: 5 },
      byOperation: { first_scan: 7, 'x.tweets': 3, check: 2, agent_step: 2, analysis: 1 },
    });
  });

  it('shows no charge for a failed check, and none for a part of a large check that costs 0 [credits.failed-check]', async () => {
    const tenant = await service.tenant('free');
    await checked(tenant.accountId, { failure: { kind: 'timeout', reason: 'too late' } });
    await checked(tenant.accountId, { part: 1, parts: 2, costCredits: 0 });
    await checked(tenant.accountId);
    await used(tenant, 2);
    const { body } = await tenant.api.get('/v1/credits/ledger?kind=charge');
    expect(body.data.length).toBe(1);
  });

  it('accepts no parameters and no other method', async () => {
    const { api } = await service.tenant();
    expect((await api.get('/v1/credits?x=1')).status).toBe(400);
    expect((await api.post('/v1/credits', {})).status).toBe(405);
  });
});

describe('GET /v1/credits/usage and /v1/credits/audit', () => {
  it('return the charges by day and group, and whether the sums of the ledger agree', async () => {
    const tenant = await service.tenant('free');
    const [{ accountId, api }, keywordId] = [tenant, newId()];
    await checked(accountId, { keywordId });
    await checked(accountId, { source: 'x', costCredits: 5, rateCredits: 5 });
    await grant(accountId, 100);
    await used(tenant, 7);
    const usage = async (query = '') =>
      (await api.get(`/v1/credits/usage${query}`)).body.data.map(
        ({ at, group, credits }: { at: string; group: string | null; credits: number }) => {
          expect(at).toMatch(/T00:00:00.000Z$/);
          return [group, credits];
        },
      );
    expect(await usage()).toEqual([[null, 7]]);
    expect(await usage('?group=source')).toEqual([
      ['x', 5],
      ['reddit', 2],
    ]);
    expect(await usage('?group=operation')).toEqual([['check', 7]]);
    expect(await usage('?group=keyword')).toEqual([
      [null, 5],
      [keywordId, 2],
    ]);
    expect(await usage('?until=2026-01-01T00:00:00Z')).toEqual([]);
    const wide = await api.get('/v1/credits/usage?since=2026-01-01T00:00:00Z');
    expect([wide.status, wide.body.details[0].path]).toEqual([400, 'since']);
    const { body } = await api.get('/v1/credits/audit');
    expect(body).toMatchObject({
      consistent: true,
      faults: [],
      balance: 3093,
      sumOfMovements: 3093,
      chargedThisPeriod: 7,
    });
    // The clock of the replica that wrote the charge was late, just after a renewal.
    await database.query(
      `UPDATE credit_movements SET at = b.period_start - interval '1 ms' FROM credit_balances b
       WHERE b.account_id = $1 AND credit_movements.account_id = $1 AND kind = 'charge' AND source = 'x'`,
      [accountId],
    );
    expect((await api.get('/v1/credits/audit')).body).toMatchObject({
      consistent: true,
      chargedThisPeriod: 7,
    });
    await database.query(
      'UPDATE credit_usage SET credits = credits + 1 WHERE account_id = $1 AND source = $2',
      [accountId, 'x'],
    );
    expect((await api.get('/v1/credits/audit')).body).toMatchObject({
      consistent: false,
      faults: ['the charges of this period add up to 7, but its usage is 8'],
    });
  });
});

describe('grants', () => {
  it('are stored before the command returns, and only once if the command is repeated', async () => {
    const { accountId, api } = await service.tenant('free');
    const commandId = newId();
    const expiresAt = '2999-01-01T01:00:00+01:00';
    for (let n = 0; n < 2; n += 1)
      expect(await grant(accountId, 500, { commandId, expiresAt })).toMatchObject({
        packId: commandId,
        creditsRemaining: 3500,
      });
    const { body } = await api.get('/v1/credits');
    expect([body.creditsRemaining, body.allowanceRemaining, body.packs]).toEqual([
      3500,
      3000,
      [{ id: commandId, granted: 500, remaining: 500, expiresAt: '2999-01-01T00:00:00.000Z' }],
    ]);
  });

  it.each([
    [0, ''],
    [1.5, ''],
    [-1, ''],
    [1e12 + 1, ''],
    [1, '2020-01-01T00:00:00.000Z'],
    [1, 'soon'],
    [1, '+010000-01-01T00:00:00.000Z'],
  ])('are refused: %d credits that expire at "%s"', async (amount, expiresAt) => {
    const { accountId } = await service.tenant('free');
    await expect(grant(accountId, amount, { expiresAt })).rejects.toMatchObject({ kind: 'invalid' });
  });

  it('have a note of at most 200 characters', async () => {
    const { accountId } = await service.tenant('free');
    await grant(accountId, 1, { note: 'x'.repeat(200) });
    await expect(grant(accountId, 1, { note: 'x'.repeat(201) })).rejects.toMatchObject({ kind: 'invalid' });
  });

  it('are refused for an unknown account', async () => {
    await expect(grant(newId(), 1)).rejects.toMatchObject({ kind: 'not-found' });
  });
});

describe('a change of plan', () => {
  it('grants the new allowance immediately, minus the credits used in the period', async () => {
    const tenant = await service.tenant('solo');
    const { accountId, api } = tenant;
    await checked(accountId, { costCredits: 5_000 });
    await used(tenant, 5_000);
    const change = async (plan: string) => {
      await new CommandClient(bus).request(
        COMMANDS.changePlan,
        create(ChangePlanSchema, { commandId: newId(), accountId, plan }),
      );
      const { body } = await api.get('/v1/credits');
      return [body.plan, body.monthlyAllowance, body.creditsRemaining];
    };
    expect(await change('free')).toEqual(['free', 3000, 0]);
    expect(await change('growth')).toEqual(['growth', 250_000, 245_000]);
    const { body } = await api.get('/v1/credits/ledger?kind=allowance_change');
    expect(body.data.map((one: Json) => [one.amount, one.balanceAfter])).toEqual([
      [245_000, 245_000],
      [-55_000, 0],
    ]);
  });
});

creditLedgerTasks({ tenant: () => service.tenant('free'), checked, grant, used });
