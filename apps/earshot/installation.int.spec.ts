import { request } from 'undici';
import { freePort } from '#embedded';
import { isolateStores, programEnv, type IsolatedStores } from '#testing';
import { startInstallation } from './installation.js';

let stores: IsolatedStores;

beforeAll(async () => (stores = await isolateStores()));
afterAll(() => stores?.drop());

it('an installation that listens on one address only prints that address, and uses it as PUBLIC_URL', async () => {
  const [HOST, PORT] = ['127.0.0.2', String(await freePort())];
  const installation = await startInstallation(programEnv(stores, { HOST, PORT }), () => undefined);
  try {
    expect(installation.address).toBe(`http://127.0.0.2:${PORT}`);
    expect(installation.env.PUBLIC_URL).toBe(installation.address);
    expect((await request(`${installation.address}/healthz`)).statusCode).toBe(200);
  } finally {
    await installation.stop();
  }
});
