import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { connectBus } from '#messaging';
import { createLogger } from '#telemetry';
import { checkout, isolateStores, programEnv, type IsolatedStores } from '#testing';
import type { Finding } from './doctor.js';

const program = fileURLToPath(new URL('dist/apps/earshot/cli.js', checkout));

let stores: IsolatedStores;
/** Accepts connections and never answers, like a frozen store. */
let frozen: Server;
const accepted = new Set<Socket>();

beforeAll(async () => {
  stores = await isolateStores();
  await (await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'))).close();
  frozen = createServer((socket) => void accepted.add(socket.on('error', () => undefined))).listen(
    0,
    '127.0.0.1',
  );
  await once(frozen, 'listening');
});
afterAll(async () => {
  accepted.forEach((socket) => socket.destroy());
  frozen?.close();
  await stores?.drop();
});

/** Runs a command. Returns when its process has ended, and ends a process that hangs. */
function cli(words: string[], env: NodeJS.ProcessEnv) {
  return new Promise<{ code: unknown; out: string; errors: string }>((resolve) => {
    execFile(process.execPath, [program, ...words], { env, timeout: 45_000 }, (error, out, errors) =>
      resolve({ code: error ? (error.code ?? 'killed') : 0, out, errors }),
    );
  });
}

const findingsIn = (out: string) =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Finding);

it('doctor reports each store that accepts connections but does not answer, runs the other checks, and ends', async () => {
  const address = `127.0.0.1:${(frozen.address() as AddressInfo).port}`;
  const env = programEnv(stores);
  const frozenPostgres = { ...env, DATABASE_URL: `postgres://u:p@${address}/d` };
  const allFrozen = { ...frozenPostgres, NATS_URL: `nats://${address}`, CLICKHOUSE_URL: `http://${address}` };
  const [healthy, one, all, list] = await Promise.all([
    cli(['doctor'], env),
    cli(['doctor'], frozenPostgres),
    cli(['doctor'], allFrozen),
    cli(['accounts', 'list'], frozenPostgres),
  ]);

  expect(healthy).toMatchObject({ code: 0, errors: '' });
  expect(findingsIn(healthy.out)).toHaveLength(6);

  const noPostgres = {
    check: 'Postgres answers',
    ok: false,
    detail: expect.stringMatching(/^Postgres .*\(DATABASE_URL\).*time/) as string,
  };
  expect(one).toMatchObject({ code: 1, errors: '' });
  const [first, ...others] = findingsIn(one.out);
  expect(first).toEqual(noPostgres);
  expect(others).toHaveLength(4);
  expect(others.every(({ ok }) => ok)).toBe(true);

  expect(all).toMatchObject({ code: 1, errors: '' });
  const found = findingsIn(all.out);
  expect(found).toHaveLength(3);
  expect(found).toEqual(
    expect.arrayContaining([
      noPostgres,
      { check: 'NATS answers', ok: false, detail: 'NATS did not answer within 15 s (NATS_URL)' },
      {
        check: 'ClickHouse answers',
        ok: false,
        detail: 'ClickHouse did not answer within 15 s (CLICKHOUSE_URL)',
      },
    ]),
  );

  expect(list).toMatchObject({
    code: 1,
    out: '',
    errors: expect.stringMatching(/^Postgres .*time/) as string,
  });
}, 60_000);
