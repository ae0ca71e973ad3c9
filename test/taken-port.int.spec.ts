import { beginProgram, isolateStores, programEnv, startProgram, type IsolatedStores } from '#testing';

describe('a single service on a port that is in use', () => {
  let stores: IsolatedStores;

  beforeAll(async () => {
    stores = await isolateStores();
  });

  afterAll(() => stores.drop());

  it('exits, names the setting, and logs no other error', async () => {
    const first = await startProgram('billing', programEnv(stores));
    const second = beginProgram('delivery', programEnv(stores), Number(new URL(first.url).port));
    await second.ended;
    expect(second.child.exitCode).toBe(1);
    const lines = second.output().trim().split('\n');
    expect(lines.at(-1)).toMatch(/^PORT: 127\.0\.0\.1:\d+ cannot be used \(EADDRINUSE\)$/);
    expect(second.output()).not.toMatch(/Connection terminated|could not be claimed/);
    await first.stop();
  }, 60_000);
});
