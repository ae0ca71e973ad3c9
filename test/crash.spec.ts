import {
  ALL_SERVICES,
  ApiClient,
  beginProgram,
  startProgram,
  startServices,
  until,
  type Program,
  type ServiceName,
} from '#testing';
import { balanceOf } from '#credits';
import { freePort } from '#embedded';
import { openDatabase } from '#postgres';
import { expectAuditAgrees } from './audit.js';
import { setStage, watchKeyword, welcome, type Customer, type Stage } from './scenario.js';

const BURST = 150;

/** Where services kill themselves in the middle of one burst. */
const BURSTS: { title: string; instants: [service: ServiceName, failpoint: string][] }[] = [
  {
    title:
      'polling and billing after their append and before the tables, analysis after the publish and before the ack, ' +
      'delivery after the POST and before its record',
    instants: [
      ['polling', 'polling-after-append-before-projection:1'],
      ['billing', 'billing-after-append-before-projection:1'],
      ['analysis', 'analysis-after-publish-before-ack:1'],
      ['delivery', 'delivery-after-post-before-record:1'],
    ],
  },
  {
    title: 'polling after credits were reserved and before the read',
    instants: [['polling', 'polling-after-reservation-before-read:2']],
  },
];

let scenario = 0;

describe('kill -9 during a burst loses nothing', () => {
  let stage: Stage;
  let programs: Map<string, Program>;
  let customer: Customer;

  beforeAll(async () => {
    stage = await setStage();
    const started = await startServices(stage.env, [...ALL_SERVICES]);
    programs = new Map(started.map((program) => [program.name, program]));
    customer = await welcome(stage, programs.get('gateway')?.url ?? '');
  }, 90_000);

  afterAll(async () => {
    await Promise.all([...programs.values()].map((program) => program.stop()));
    await stage.close();
  });

  it.each(BURSTS)(
    '$title',
    async ({ instants }) => {
      const brand = await watchBrand(stage, customer);
      await Promise.all(instants.map(([service]) => programs.get(service)?.stop()));
      const doomed = await Promise.all(
        instants.map(async ([service, failpoint]) =>
          beginProgram(service, { ...stage.env, EARSHOT_FAILPOINT: failpoint }, await freePort()),
        ),
      );
      burst(stage, brand.term);
      // Some instants are only reached after another service has started again.
      await Promise.all(doomed.map(restartWhenKilled));
      await expectNothingLost(stage, customer, brand);
      await expectNothingHeld(stage, customer, brand);
    },
    120_000,
  );

  async function restartWhenKilled(doomed: Program): Promise<void> {
    await doomed.ended;
    expect([doomed.output(), doomed.child.signalCode]).toEqual([doomed.output(), 'SIGKILL']);
    programs.set(doomed.name, await startProgram(doomed.name as ServiceName, stage.env));
  }

  it('gateway, keywords and billing, at any moment', async () => {
    const brand = await watchBrand(stage, customer);
    burst(stage, brand.term);
    await until(
      'the burst has begun to arrive',
      () => stage.simulator.receiver.deliveries(brand.hook).length > 0,
      30_000,
    );
    await Promise.all(
      (['gateway', 'keywords', 'billing'] as const).map(async (service) => {
        await programs.get(service)?.stop('SIGKILL');
        programs.set(service, await startProgram(service, stage.env));
      }),
    );
    const gateway = programs.get('gateway')?.url ?? '';
    customer = { ...customer, api: new ApiClient(gateway, customer.api.apiKey) };
    await expectNothingLost(stage, customer, brand);
  }, 120_000);

  it('keywords, after the append and before the tables: the keyword exists nevertheless', async () => {
    stage.simulator.world.publish('hackernews', { kind: 'comment', text: 'The Ghost Ship sails' });
    await programs.get('keywords')?.stop();
    const doomed = beginProgram(
      'keywords',
      { ...stage.env, EARSHOT_FAILPOINT: 'after-append-before-projection:1' },
      await freePort(),
    );
    await until(
      'keywords is up',
      async () => {
        const { status } = await customer.api.post('/v1/keywords', {
          ...keywordBody(stage, 'Ghost Ship', 'ghost'),
          backfill: true,
        });
        return status === 503 && doomed.child.signalCode === 'SIGKILL';
      },
      30_000,
    );
    programs.set('keywords', await startProgram('keywords', stage.env));
    const found = await until('the keyword is readable', async () => {
      const { body } = await customer.api.get('/v1/keywords?q=Ghost');
      return body.data.length > 0 && body.data;
    });
    expect(found).toHaveLength(1);
    expect(found[0].watches).toHaveLength(1);
    // Polling may have checked before the tables had the watch: its items must not be lost.
    await until('its first scan is readable', async () => {
      const { body } = await customer.api.get(`/v1/keywords/${found[0].id}/results`);
      return body.data.length === 1 && body.data[0].backfilled;
    });
  }, 60_000);
});

describe('kill -9 of the whole process during a burst loses nothing', () => {
  let stage: Stage;
  let program: Program;

  beforeAll(async () => {
    stage = await setStage();
    program = await startProgram('earshot', stage.env);
  }, 60_000);

  afterAll(async () => {
    await program.stop();
    await stage.close();
  });

  it.each([1, 40, 100])(
    'with %i deliveries made',
    async (made) => {
      const customer = await welcome(stage, program.url);
      const brand = await watchBrand(stage, customer);
      burst(stage, brand.term);
      await until(
        'the burst arrives',
        () => stage.simulator.receiver.deliveries(brand.hook).length >= made,
        30_000,
      );
      await program.stop('SIGKILL');
      program = await startProgram('earshot', stage.env);
      const api = new ApiClient(program.url, customer.api.apiKey);
      await expectNothingLost(stage, { ...customer, api }, brand);
    },
    90_000,
  );
});

interface Brand {
  term: string;
  hook: string;
  keywordId: string;
  watchId: string;
}

async function watchBrand(stage: Stage, { api }: Customer): Promise<Brand> {
  scenario += 1;
  const term = `Brand${scenario}word`;
  const hook = `crash-${scenario}`;
  const keyword = await watchKeyword(api, keywordBody(stage, term, hook));
  return { term, hook, keywordId: keyword.id, watchId: keyword.watches[0]?.id ?? '' };
}

function keywordBody(stage: Stage, term: string, hook: string): object {
  return {
    name: term,
    refreshIntervalSeconds: 1,
    globalCriteria: { market: 'global', query: term },
    sources: [{ source: 'hackernews', enabled: true }],
    webhookUrl: `${stage.simulator.url}/hooks/${hook}`,
  };
}

function burst(stage: Stage, term: string): void {
  for (let n = 1; n <= BURST; n += 1)
    stage.simulator.world.publish('hackernews', { kind: 'comment', text: `${term} number ${n}` });
}

/**
 * When no check runs any more, no credits are reserved: the reservations of the dead process were settled or released.
 */
async function expectNothingHeld(stage: Stage, { api, accountId }: Customer, brand: Brand): Promise<void> {
  expect((await api.delete(`/v1/keywords/${brand.keywordId}`)).status).toBe(204);
  const database = await openDatabase(stage.stores.databaseUrl, 'spec', 2);
  try {
    await until(
      'nothing is reserved',
      async () => (await balanceOf(database, accountId))?.held === 0,
      30_000,
    );
  } finally {
    await database.destroy();
  }
}

/**
 * Every item is one mention, every event was delivered at least once, copies are identical, and the replay is complete.
 */
async function expectNothingLost(
  stage: Stage,
  { api, accountId }: Customer,
  { hook, keywordId, watchId }: Brand,
): Promise<void> {
  const { receiver } = stage.simulator;
  await until('every event is delivered', () => receiver.countsOf(hook).distinct >= BURST, 75_000);
  const mentions = await until('every mention is readable', async () => {
    const found = await api.all(`/v1/keywords/${keywordId}/results?limit=200`);
    return found.length >= BURST && found;
  });
  const ids = new Set(mentions.map(({ id }: { id: string }) => id));
  expect(mentions).toHaveLength(BURST);
  expect(ids.size).toBe(BURST);
  expect(new Set(mentions.map(({ text }: { text: string }) => text)).size).toBe(BURST);

  const deliveries = receiver.deliveries(hook);
  expect(deliveries.every(({ verified }) => verified)).toBe(true);
  expect(new Set(deliveries.map(({ eventId }) => eventId))).toEqual(ids);
  expect(['copies are the same, byte for byte', new Set(deliveries.map(({ body }) => body)).size]).toEqual([
    'copies are the same, byte for byte',
    BURST,
  ]);

  const replay = await until('every event can be replayed', async () => {
    const found = await api.all(`/v1/hackernews/watches/${watchId}/events?limit=200`);
    return found.length >= BURST && found;
  });
  expect(replay.map(({ id }: { id: string }) => id).sort()).toEqual([...ids].sort());
  const { charges } = await expectAuditAgrees(stage.stores, accountId);
  expect(charges).toBeGreaterThan(0);
}
