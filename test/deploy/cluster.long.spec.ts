import { connectBus, type Bus } from '#messaging';
import { createLogger } from '#telemetry';
import {
  ALL_SERVICES,
  startCollector,
  startProgram,
  until,
  type OtlpCollector,
  type Program,
  type ServiceName,
} from '#testing';
import { simulatedSources } from '../../apps/simulator/index.js';
import { expectAuditAgrees } from '../audit.js';
import { openCustomer, setStage, watchKeyword, type Customer, type Stage } from '../scenario.js';
import { ComposeFile } from './compose-file.js';
import { NatsCluster } from './nats-cluster.js';

const POSTS_EACH = 20;

const compose = new ComposeFile();
const cluster = new NatsCluster(compose);
let stage: Stage;
let collector: OtlpCollector;
let programs: Program[] = [];
let customer: Customer;
let bus: Bus;
let keyword: { id: string };
let published = 0;

beforeAll(async () => {
  const [bare] = await Promise.all([setStage(), cluster.start()]);
  collector = await startCollector();
  const natsUrl = cluster.onThisMachine(compose.environmentOf('cli').NATS_URL ?? '');
  stage = { ...bare, stores: { ...bare.stores, natsUrl } };
  const started = await Promise.allSettled(
    ALL_SERVICES.map((name) => startProgram(name, environmentOf(name))),
  );
  programs = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  for (const one of started) if (one.status === 'rejected') throw one.reason;
  bus = await connectBus(natsUrl, 'spec', createLogger('spec', 'silent'));
  customer = await openCustomer(stage, programs.find(({ name }) => name === 'gateway')?.url ?? '');
}, 180_000);

afterAll(async () => {
  await bus?.close();
  await Promise.all(programs.map((program) => program.stop()));
  await cluster.remove();
  await stage?.close();
  await collector?.close();
  compose.remove();
});

/** Returns the environment of a service in compose.yaml, with the addresses of this machine. */
function environmentOf(name: ServiceName): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  const { databaseUrl, clickhouseUrl } = stage.stores;
  const env = compose.environmentOf(name);
  // The content of sources.env, which gateway, keywords and polling get.
  const sources = { ...simulatedSources(stage.simulator.url), INTERVAL_FLOOR_SECONDS: '1' };
  return {
    ...{ PATH, HOME, ...env, HOST: '127.0.0.1', LOG_LEVEL: 'warn' },
    ...(compose.containers[name]?.env_file && sources),
    ...{ DATABASE_URL: databaseUrl, CLICKHOUSE_URL: clickhouseUrl },
    NATS_URL: cluster.onThisMachine(env.NATS_URL ?? ''),
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER: 'always_on' },
    ...('EGRESS_ALLOW' in env && { EGRESS_ALLOW: '127.0.0.0/8' }),
  };
}

/** Publishes posts, and waits until each has arrived at the webhook. */
async function postsAreDelivered(): Promise<void> {
  for (let n = 0; n < POSTS_EACH; n += 1) {
    published += 1;
    stage.simulator.world.publish('hackernews', { kind: 'comment', text: `Zephyr Kettle ${published}` });
  }
  const { receiver } = stage.simulator;
  await until(
    `${published} posts are delivered`,
    () => receiver.countsOf('cluster').distinct >= published,
    180_000,
  );
}

/** Changes the keyword. Until the servers have elected a leader for its stream, the gateway may return 503. */
async function keywordIsChanged(name: string): Promise<void> {
  let last: unknown;
  await until(
    'the keyword is changed',
    async () => {
      const { status, body } = await customer.api.patch(`/v1/keywords/${keyword.id}`, { name });
      last = [status, body];
      return status !== 503;
    },
    60_000,
  );
  expect(last).toMatchObject([200, { name }]);
}

/**
 * Waits until two servers beside the leader have all messages of each stream. The servers' own `/healthz` is not asked:
 * nats-server 2.9.10 can report a consumer without work as "not current" for minutes.
 */
async function copiesAreComplete(): Promise<void> {
  await until(
    'each stream has three complete copies',
    async () => {
      const streams = await bus.jsm.streams.list().next();
      const copies = streams.map(({ cluster: state }) =>
        (state?.replicas ?? []).filter(({ current, offline, lag }) => current && !offline && !lag),
      );
      return copies.length > 0 && copies.every(({ length }) => length === 2);
    },
    60_000,
  );
}

/** Returns the server that leads a stream. */
async function leaderOf(stream: string): Promise<string> {
  return until(`${stream} has a leader`, async () => {
    const { cluster: state } = await bus.jsm.streams.info(stream);
    return state?.leader;
  });
}

describe('the services of compose.yaml with three nats-servers', () => {
  it('keep three copies of each stream and of each consumer of EVENTS', async () => {
    const streams = await bus.jsm.streams.list().next();
    expect(streams.length).toBeGreaterThan(5);
    for (const { config, cluster: state } of streams)
      expect([config.name, config.num_replicas, state?.replicas?.length]).toEqual([config.name, 3, 2]);
    const consumers = await bus.jsm.consumers.list('EVENTS').next();
    expect(consumers.length).toBeGreaterThan(1);
    for (const { name, cluster: state } of consumers)
      expect([name, state?.replicas?.length]).toEqual([name, 2]);
  });

  it('find and deliver posts', async () => {
    keyword = await watchKeyword(customer.api, {
      name: 'Zephyr Kettle',
      refresh_interval_seconds: 1,
      global_criteria: { market: 'global', query: 'Zephyr Kettle' },
      sources: [{ source: 'hackernews', enabled: true }],
      webhook_url: `${stage.simulator.url}/hooks/cluster`,
    });
    await postsAreDelivered();
  }, 200_000);

  it.each(['EVENTS', 'CHECKS', 'KEYWORDS'])(
    'continue after a kill -9 of the server that leads %s, and the server catches up',
    async (stream) => {
      const leader = await leaderOf(stream);
      await cluster.kill(leader);
      try {
        await postsAreDelivered();
        await keywordIsChanged(`Without ${leader}`);
      } finally {
        cluster.startServer(leader);
      }
      await copiesAreComplete();
    },
    330_000,
  );

  it('still run, without a wrong signature, a lost mention or a wrong charge', async () => {
    expect(programs.filter(({ child }) => child.exitCode !== null).map(({ name }) => name)).toEqual([]);
    const deliveries = stage.simulator.receiver.deliveries('cluster');
    expect(deliveries.filter(({ verified }) => !verified)).toEqual([]);
    const mentions = await until(
      'each post is a mention',
      async () => {
        const listed = await customer.api.all(`/v1/keywords/${keyword.id}/results?limit=200`);
        return listed.length >= published && listed;
      },
      60_000,
    );
    expect(mentions.length).toBe(published);
    // Otherwise a check could be under way during the audit.
    await customer.api.post(`/v1/keywords/${keyword.id}/pause`, {});
    await expectAuditAgrees(stage.stores, customer.accountId);
  }, 120_000);

  it('send their traces to the collector', async () => {
    const names = new Set<string>(ALL_SERVICES);
    await until('each service has sent spans', () =>
      [...names].every((name) => collector.spans.some(({ service }) => service.includes(name))),
    );
  });

  it('have stored all data on each server at the end', async () => {
    await copiesAreComplete();
  }, 70_000);
});
