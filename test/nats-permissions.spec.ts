import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from '@nats-io/transport-node';
import { request } from 'undici';
import { findNatsServer, freePort } from '#embedded';
import { EventStore } from '#event-store';
import { newId } from '#kernel';
import { connectBus, STREAMS } from '#messaging';
import { createLogger } from '#telemetry';
import { ALL_SERVICES, checkout, startProgram, until, type Program } from '#testing';
import { setStage, watchKeyword, openCustomer, type Customer, type Stage } from './scenario.js';

const config = fileURLToPath(new URL('deploy/nats/users.conf', checkout));
const directory = mkdtempSync(join(tmpdir(), 'earshot-permissions-'));
const USERS = [...ALL_SERVICES, 'cli'] as const;
type User = (typeof USERS)[number];
let server: ChildProcess;
let port: number;
let stage: Stage;
let programs: Program[] = [];
let customer: Customer;

const urlOf = (user: User) => `nats://${user}:${passwordOf(user)}@127.0.0.1:${port}`;
const passwordOf = (user: User) => `secret-of-${user}`;

beforeAll(async () => {
  const bare = await setStage();
  port = await freePort();
  const passwords = USERS.map((user) => [`${user.toUpperCase()}_PASSWORD`, passwordOf(user)]);
  server = spawn(
    findNatsServer() ?? '',
    ['-c', config, '-a', '127.0.0.1', '-p', String(port), '-js', '-sd', directory],
    { env: Object.fromEntries(passwords) as NodeJS.ProcessEnv, stdio: 'ignore' },
  );
  await until('NATS answers', () =>
    connect({ servers: `127.0.0.1:${port}`, user: 'cli', pass: passwordOf('cli') }).then(
      (nc) => nc.close().then(() => true),
      () => false,
    ),
  );
  stage = { ...bare, stores: { ...bare.stores, natsUrl: urlOf('cli') } };
  programs = await Promise.all(
    ALL_SERVICES.map((name) => startProgram(name, { ...stage.env, NATS_URL: urlOf(name) })),
  );
  const gateway = programs.find(({ name }) => name === 'gateway');
  customer = await openCustomer(stage, gateway?.url ?? '');
}, 120_000);

afterAll(async () => {
  await Promise.all(programs.map((program) => program.stop()));
  await stage?.close();
  server?.kill('SIGKILL');
  if (server) await once(server, 'exit');
  rmSync(directory, { recursive: true, force: true });
});

describe('services with the permissions of deploy/nats/users.conf', () => {
  it('can process a keyword, a mention, a webhook, a replay, a lookup and a purge without a violation', async () => {
    const { simulator } = stage;
    const { api } = customer;
    const keyword = await watchKeyword(api, {
      name: 'Zephyr Kettle',
      refresh_interval_seconds: 1,
      global_criteria: { market: 'global', query: 'Zephyr Kettle' },
      sources: [{ source: 'hackernews', enabled: true }],
      webhook_url: `${simulator.url}/hooks/permissions`,
    });
    const stream = await request(`${api.url}/v1/stream`, { headers: { 'x-api-key': api.apiKey } });
    simulator.world.publish('hackernews', { title: 'Zephyr Kettle is out', text: 'Zephyr Kettle' });
    for await (const chunk of stream.body) if (String(chunk).includes('event: mention')) break;
    await until('the webhook is delivered', async () => {
      const { body } = await api.get(`/v1/keywords/${keyword.id}/activity`);
      return body.activity.some(({ type }: { type: string }) => type === 'webhook.delivered');
    });
    const { body: results } = await api.get(`/v1/keywords/${keyword.id}/results`);
    const labelled = await api.patch(`/v1/mentions/${results.data[0].id}`, { labels: ['starred'] });
    expect(labelled.status).toBe(200);
    const replay = await api.post('/v1/replays', {
      since: new Date(Date.now() - 3_600_000).toISOString(),
      keyword_id: keyword.id,
    });
    expect(replay.status).toBe(202);
    await until(
      'the replay is done',
      async () => (await api.get(`/v1/replays/${replay.body.id}`)).body.status === 'done',
    );
    expect((await api.get('/v1/x/users/nobody')).status).not.toBe(503);
    expect((await api.delete(`/v1/keywords/${keyword.id}?purge=true`)).status).toBe(204);
    const bus = await connectBus(urlOf('cli'), 'cli', createLogger('spec', 'silent'));
    for (const stream of ['KEYWORDS', 'CHECKS', 'EVENTS', 'LABELS', 'ATTEMPTS'])
      await until(`${stream} is erased`, async () => {
        const { state } = await bus.jsm.streams.info(stream);
        return state.messages === 0;
      });
    await until('the gateway has processed the purge', async () => {
      const { delivered } = await bus.jsm.consumers.info('PURGES', 'gateway-purge');
      return delivered.stream_seq > 0;
    });
    await bus.close();
    for (const { name, output } of programs)
      expect([name, output().match(/permissions? violation/i)?.[0]]).toEqual([name, undefined]);
  }, 90_000);

  it.each([
    ['gateway', 'accounts.x'],
    ['gateway', 'keywords.x.y'],
    ['polling', 'credits.x'],
    ['analysis', 'accounts.x'],
    ['delivery', 'events.x.y'],
    ['keywords', 'commands.billing.create-key'],
  ] as const)('%s cannot publish %s', async (user, subject) => {
    const nc = await connect({ servers: `127.0.0.1:${port}`, user, pass: passwordOf(user) });
    const refused = (async () => {
      for await (const status of nc.status()) if (status.type === 'error') return status.error.message;
      return 'no violation was reported';
    })();
    nc.publish(subject, 'x');
    expect(await refused).toMatch(
      new RegExp(`permissions violation.*publish.*${subject.replaceAll('.', '\\.')}`, 'i'),
    );
    await nc.close();
  });

  it.each(ALL_SERVICES)('%s can create the streams of Earshot, and no others', async (user) => {
    const nc = await connect({
      ...{ servers: `127.0.0.1:${port}`, user, pass: passwordOf(user) },
      inboxPrefix: `_INBOX.${user}`,
    });
    // The streams exist already, with other settings, so this request only shows that it is allowed.
    const create = async (name: string, subjects: string[]) =>
      nc.request(`$JS.API.STREAM.CREATE.${name}`, JSON.stringify({ name, subjects })).then(
        (answer) => answer.json<{ error?: { description: string } }>().error?.description,
        (error: Error) => error.message,
      );
    for (const name of Object.keys(STREAMS)) expect(await create(name, [])).toMatch(/already in use/);
    expect(await create('SPY', ['commands.>'])).toMatch(/permissions violation/i);
    await nc.close();
  });

  it.each([
    ['gateway', 'commands.billing.>'],
    ['gateway', '_INBOX.>'],
    ['analysis', '_INBOX.billing.>'],
    ['polling', 'accounts.>'],
  ] as const)('%s cannot read %s', async (user, subject) => {
    const nc = await connect({ servers: `127.0.0.1:${port}`, user, pass: passwordOf(user) });
    const refused = new Promise((resolve) =>
      nc.subscribe(subject, { callback: (error) => resolve(error?.message) }),
    );
    expect(await refused).toMatch(/permissions violation/i);
    await nc.close();
  });
});

describe('the permissions of a service', () => {
  beforeAll(() => Promise.all(programs.splice(0).map((program) => program.stop())));

  it.each([
    ['keywords', 'KEYWORDS'],
    ['polling', 'CHECKS'],
    ['polling', 'EXPLORES'],
    ['polling', 'LOOKUPS'],
    ['analysis', 'ALERTS'],
    ['analysis', 'EVENTS'],
    ['analysis', 'LABELS'],
    ['analysis', 'READINGS'],
    ['billing', 'ACCOUNTS'],
    ['billing', 'CREDITS'],
    ['delivery', 'ATTEMPTS'],
    ['delivery', 'CHANNELS'],
    ['delivery', 'REPLAYS'],
  ] as const)(
    'allow %s to read a subject of %s, and to delete the consumer that it needs for this',
    async (user, stream) => {
      const [cli, bus] = await Promise.all(
        (['cli', user] as const).map((one) => connectBus(urlOf(one), one, createLogger('spec', 'silent'))),
      );
      const consumers = async () => (await cli!.jsm.streams.info(stream)).state.consumer_count;
      const before = await consumers();
      const subject = `${stream.toLowerCase()}.spec`;
      for (let n = 0; n < 2; n += 1) await new EventStore(cli!).publish(subject, new Uint8Array(), newId());
      expect(
        await new EventStore(bus!).readSince(stream, subject, new Date(0), ({ seq }) => seq),
      ).toHaveLength(2);
      expect(await consumers()).toBe(before);
      await Promise.all([cli!.close(), bus!.close()]);
    },
  );
});
