import { networkInterfaces } from 'node:os';
import { request } from 'undici';
import { freePort } from '#embedded';
import { isolateStores, programEnv, type IsolatedStores } from '#testing';
import { startInstallation } from './installation.js';

/** The name of the network interface with the address ::1; undefined if this machine has no IPv6. */
const loopback = Object.entries(networkInterfaces()).find(([, all]) =>
  all?.some(({ address }) => address === '::1'),
)?.[0];

let stores: IsolatedStores;

beforeAll(async () => (stores = await isolateStores()));
afterAll(() => stores?.drop());

it('an installation with a single listen address prints that address, and uses it as PUBLIC_URL', async () => {
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

(loopback ? it : it.skip)(
  'an installation starts on an IPv6 address with a zone, which no URL can contain',
  async () => {
    const [HOST, PORT] = [`::1%${loopback}`, String(await freePort())];
    const installation = await startInstallation(programEnv(stores, { HOST, PORT }), () => undefined);
    try {
      expect(installation.env.PUBLIC_URL).toBe(`http://127.0.0.1:${PORT}`);
      expect((await request(`http://[::1]:${PORT}/healthz`)).statusCode).toBe(200);
    } finally {
      await installation.stop();
    }
  },
);
