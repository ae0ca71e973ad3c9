import { ApiClient, startProgram, until, type Program } from '#testing';
import { burst, expectNothingLost, watchBrand } from './burst.js';
import { setStage, openCustomer, type Stage } from './scenario.js';

describe('kill -9 of the process that runs all services during a burst', () => {
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
    'loses no data after %i deliveries',
    async (made) => {
      const customer = await openCustomer(stage, program.url);
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
