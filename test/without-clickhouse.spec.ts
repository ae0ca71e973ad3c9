import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { request } from 'undici';
import { freePort } from '#embedded';
import { ALL_SERVICES, beginProgram, until, type Program } from '#testing';
import { openCustomer, setStage, watchKeyword, type Stage } from './scenario.js';

let stage: Stage;
const programs: Program[] = [];
const relay = createServer((socket) => {
  const { hostname, port } = new URL(stage.stores.clickhouseUrl);
  const upstream = connect(Number(port), hostname);
  for (const one of [socket, upstream]) one.on('error', () => [socket, upstream].map((end) => end.destroy()));
  socket.pipe(upstream).pipe(socket);
});

beforeAll(async () => {
  stage = await setStage();
});
afterAll(async () => {
  await Promise.all(programs.map((program) => program.stop()));
  relay.close();
  await stage?.close();
});

it('services that start while ClickHouse is down send webhooks, and store mentions when ClickHouse is up', async () => {
  const { simulator } = stage;
  const port = await freePort();
  const clickhouse = new URL(stage.stores.clickhouseUrl);
  clickhouse.port = String(port);
  const env = { ...stage.env, CLICKHOUSE_URL: clickhouse.href };
  for (const name of ALL_SERVICES) programs.push(beginProgram(name, env, await freePort()));
  for (const { name, url, output } of programs)
    await until(
      `${name} runs`,
      () =>
        request(`${url}/healthz`).then(
          async ({ statusCode, body }) => (await body.dump(), statusCode === 200),
          () => false,
        ),
      60_000,
    ).catch((error: Error) => {
      throw new Error(`${error.message}: ${output()}`);
    });
  const { api } = await openCustomer(stage, programs.find(({ name }) => name === 'gateway')?.url ?? '');
  const keyword = await watchKeyword(api, {
    name: 'Zephyr Kettle',
    refresh_interval_seconds: 1,
    global_criteria: { market: 'global', query: 'Zephyr Kettle' },
    sources: [{ source: 'hackernews', enabled: true }],
    webhook_url: `${simulator.url}/hooks/without-clickhouse`,
  });
  simulator.world.publish('hackernews', { title: 'Zephyr Kettle is out', text: 'Zephyr Kettle' });
  await until('the webhook is sent', () => simulator.receiver.deliveries('without-clickhouse').length > 0);
  expect((await api.get(`/v1/keywords/${keyword.id}/results`)).status).toBe(503);
  await once(relay.listen(port, '127.0.0.1'), 'listening');
  await until(
    'the mention can be read',
    async () => {
      const { body } = await api.get(`/v1/keywords/${keyword.id}/results`);
      return body.data?.length > 0;
    },
    60_000,
  );
}, 180_000);
