import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { create, fromJson, type JsonObject } from '@bufbuild/protobuf';
import { CreateKeywordSchema, KeywordDefinitionSchema, OpenAccountSchema } from '#contracts';
import { newId } from '#kernel';
import { COMMANDS, connectBus, sendCommand, type Bus } from '#messaging';
import { createLogger } from '#telemetry';
import { startSimulator, type Simulator } from '../simulator/index.js';
import { readInstallationSettings, startInstallation, type Installation } from './installation.js';

/** The demo's account, kept beside its data so that a second start goes on with it. */
interface DemoAccount {
  accountId: string;
  apiKey: string;
  signingSecret: string;
}

const BRANDS = [
  { name: 'Acme Rocket', terms: ['Acme Rocket', 'AcmeRocket'] },
  { name: 'Northwind', terms: ['Northwind', 'ノースウィンド'] },
  { name: 'Globex', terms: ['Globex', 'Globex Corp'] },
];
const FEEDS = ['tech-wire.rss', 'gadget-weekly.atom', 'startup-notes.rdf', 'cloud-review.json'];
const SIMULATOR_PORT = 8090;

/**
 * Earshot in a world of its own: simulated upstreams, an account, three keywords and a webhook receiver that checks
 * signatures. Its data lives in `DATA_DIR/demo`.
 */
export async function startDemo(
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
  signal?: AbortSignal,
): Promise<Pick<Installation, 'stop'>> {
  const dataDir = resolve(readInstallationSettings(env).DATA_DIR, 'demo');
  const simulator = await startWorld(say);
  try {
    const installation = await startInstallation(demoEnv(env, dataDir, simulator.url), say, signal);
    const account = await demoAccount(installation, dataDir, simulator);
    simulator.receiver.addSecret('*', account.signingSecret);
    greet(installation, account, say);
    return {
      async stop() {
        await installation.stop();
        await simulator.stop();
      },
    };
  } catch (error) {
    await simulator.stop();
    throw error;
  }
}

/** The feeds and hooks of a second start must be found where the first one's keywords look for them. */
async function startWorld(say: (line: string) => void): Promise<Simulator> {
  const options = { seed: 7, ratePerSecond: 0.25, historyPosts: 60, historyHours: 24, log: say };
  return startSimulator({ ...options, port: SIMULATOR_PORT }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    return startSimulator(options);
  });
}

function demoEnv(env: NodeJS.ProcessEnv, dataDir: string, url: string): NodeJS.ProcessEnv {
  return {
    ...env,
    DATA_DIR: dataDir,
    EGRESS_ALLOW: '127.0.0.0/8',
    LOG_LEVEL: env.LOG_LEVEL ?? 'error',
    SOURCE_HACKERNEWS_URL: url,
    SOURCE_REDDIT_URL: url,
    SOURCE_REDDIT_CLIENT_ID: 'demo',
    SOURCE_REDDIT_CLIENT_SECRET: 'demo',
    SOURCE_BLUESKY_URL: url,
    SOURCE_BLUESKY_CLIENT_ID: 'demo.example.org',
    SOURCE_BLUESKY_CLIENT_SECRET: 'demo',
    SOURCE_RSS_URL: url,
  };
}

async function demoAccount(
  installation: Installation,
  dataDir: string,
  simulator: Simulator,
): Promise<DemoAccount> {
  const file = join(dataDir, 'demo-account.json');
  const bus = await connectBus(installation.env.NATS_URL ?? '', 'demo', createLogger('demo', 'error'));
  try {
    const known = existsSync(file)
      ? (JSON.parse(readFileSync(file, 'utf8')) as DemoAccount & { hook: string })
      : undefined;
    const hook = `${simulator.url}/hooks/demo`;
    if (known?.hook === hook) return known;
    const command = create(OpenAccountSchema, {
      commandId: newId(),
      email: `demo-${newId()}@example.org`,
      plan: 'unlimited',
    });
    const { accountId, apiKey, signingSecret } = await sendCommand(bus, COMMANDS.openAccount, command);
    simulator.receiver.addSecret('*', signingSecret);
    for (const brand of BRANDS) await createKeyword(bus, accountId, brand, hook);
    writeFileSync(file, JSON.stringify({ accountId, apiKey, signingSecret, hook }), { mode: 0o600 });
    return { accountId, apiKey, signingSecret };
  } finally {
    await bus.close();
  }
}

async function createKeyword(
  bus: Bus,
  accountId: string,
  brand: (typeof BRANDS)[number],
  hook: string,
): Promise<void> {
  const source = (name: string, overrides?: JsonObject): JsonObject => ({
    source: name,
    enabled: true,
    searches: overrides ? [{ overridesEnabled: true, overrides }] : [],
  });
  const definition = fromJson(KeywordDefinitionSchema, {
    name: brand.name,
    refreshIntervalSeconds: 5,
    globalCriteria: { market: 'global', terms: brand.terms },
    sources: [
      source('hackernews'),
      source('reddit'),
      source('bluesky'),
      source('rss', { filters: { feed_urls: FEEDS.map((feed) => `${new URL(hook).origin}/feeds/${feed}`) } }),
    ],
    webhookUrl: hook,
    webhookMode: 'all',
    subjectRole: 'own',
    backfill: true,
  });
  await sendCommand(
    bus,
    COMMANDS.createKeyword,
    create(CreateKeywordSchema, { commandId: newId(), accountId, definition }),
  );
}

function greet({ address }: Installation, { apiKey }: DemoAccount, say: (line: string) => void): void {
  say(`
Earshot is running. All posts are simulated: nothing here was written by anybody.

  Address   ${address}
  API key   ${apiKey}
  Keywords  ${BRANDS.map(({ name }) => name).join(', ')}, on hackernews, reddit, bluesky and rss, every 5 s

  See the latest mentions:

    curl -s -H 'x-api-key: ${apiKey}' '${address}/v1/mentions?limit=5'

Below, each webhook that the demo's receiver gets and verifies. Ctrl-C ends it all.
`);
}
