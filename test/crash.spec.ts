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
import { freePort } from '#embedded';
import { burst, expectNothingReserved, expectNothingLost, keywordBody, watchBrand } from './burst.js';
import { setStage, openCustomer, type Customer, type Stage } from './scenario.js';

/** The points at which services kill themselves in the middle of one burst. */
const BURSTS: { title: string; killPoints: [service: ServiceName, failpoint: string][] }[] = [
  {
    title:
      'polling and billing after their append and before the change of their tables, ' +
      'analysis after the publish and before the acknowledgement, delivery after the POST and before its record',
    killPoints: [
      ['polling', 'polling-after-append-before-projection:1'],
      ['billing', 'billing-after-append-before-projection:1'],
      ['analysis', 'analysis-after-publish-before-ack:1'],
      ['delivery', 'delivery-after-post-before-record:1'],
    ],
  },
  {
    title: 'polling after credits were reserved and before the read',
    killPoints: [['polling', 'polling-after-reservation-before-read:2']],
  },
];

describe('a burst loses no data after kill -9 of these services:', () => {
  let stage: Stage;
  let programs: Map<string, Program>;
  let customer: Customer;

  beforeAll(async () => {
    stage = await setStage();
    const started = await startServices(stage.env, [...ALL_SERVICES]);
    programs = new Map(started.map((program) => [program.name, program]));
    customer = await openCustomer(stage, programs.get('gateway')?.url ?? '');
  }, 90_000);

  afterAll(async () => {
    await Promise.all([...programs.values()].map((program) => program.stop()));
    await stage.close();
  });

  it.each(BURSTS)(
    '$title',
    async ({ killPoints }) => {
      const brand = await watchBrand(stage, customer);
      await Promise.all(killPoints.map(([service]) => programs.get(service)?.stop()));
      const doomed = await Promise.all(
        killPoints.map(async ([service, failpoint]) =>
          beginProgram(service, { ...stage.env, EARSHOT_FAILPOINT: failpoint }, await freePort()),
        ),
      );
      burst(stage, brand.term);
      // Some services reach their kill point only after another service has started again.
      await Promise.all(doomed.map(restartWhenKilled));
      await expectNothingLost(stage, customer, brand);
      await expectNothingReserved(stage, customer, brand);
    },
    120_000,
  );

  async function restartWhenKilled(doomed: Program): Promise<void> {
    await doomed.ended;
    expect([doomed.output(), doomed.child.signalCode]).toEqual([doomed.output(), 'SIGKILL']);
    programs.set(doomed.name, await startProgram(doomed.name as ServiceName, stage.env));
  }

  it('gateway, keywords and billing after the first event is delivered', async () => {
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

  it('keywords between the append and the change of its tables: the new keyword exists', async () => {
    stage.simulator.world.publish('hackernews', { kind: 'comment', text: 'The Ghost Ship sails' });
    await programs.get('keywords')?.stop();
    const doomed = beginProgram(
      'keywords',
      { ...stage.env, EARSHOT_FAILPOINT: 'after-append-before-projection:1' },
      await freePort(),
    );
    await until(
      'keywords is killed during the request',
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
    // Polling can check the watch before the tables contain it. The items of that check must not be lost.
    await until('its first scan is readable', async () => {
      const { body } = await customer.api.get(`/v1/keywords/${found[0].id}/results`);
      return body.data.length === 1 && body.data[0].backfilled;
    });
  }, 60_000);
});
