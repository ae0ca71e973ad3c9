import { resolve } from 'node:path';
import { readSettings } from '#config';
import { connectBus } from '#messaging';
import { createLogger } from '#telemetry';
import { simulatedChannels, simulatedSources, startSimulator, type Simulator } from '../simulator/index.js';
import { BRANDS, demoAccount, knownAccount, type DemoAccount } from './demo-account.js';
import { makeSpike, setUpChannels } from './demo-channels.js';
import { demoGreeting } from './demo-greeting.js';
import { showReadings } from './demo-readings.js';
import { readInstallationSettings, startInstallation, type Installation } from './installation.js';
import { presentSigningSecret } from './sealed-secrets.js';

const SIMULATOR_PORT = 8090;
/** Interval at which one listing of the simulated market becomes cheaper, and another listing is sold. */
const MARKET_MS = 45_000;
/** What the simulator keeps in memory. `posts` applies to each source: about the posts of the newest 15 minutes. */
const KEPT = { posts: 250, deliveries: 200, requests: 1_000 };
/** Number of the newest listings about the brands, from which `moveMarket` chooses. */
const FOLLOWED_LISTINGS = 30;

/**
 * Starts Earshot with simulated upstreams, an account, three keywords, a channel of each kind and a webhook receiver
 * that checks signatures. The data of the demo is in `DATA_DIR/demo`.
 */
export async function startDemo(
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
  signal?: AbortSignal,
): Promise<Pick<Installation, 'stop' | 'givenUp'>> {
  const dataDir = resolve(readInstallationSettings(env).DATA_DIR, 'demo');
  const simulator = await startWorld(knownAccount(dataDir), say);
  let installation: Installation | undefined;
  const market = setInterval(() => moveMarket(simulator), MARKET_MS);
  const stopping = new AbortController();
  const stop = async () => {
    clearInterval(market);
    stopping.abort();
    await installation?.stop();
    await simulator.stop();
  };
  try {
    installation = await startInstallation(demoEnv(env, dataDir, simulator), say, signal);
    const account = await accountOn(installation, dataDir, simulator);
    simulator.receiver.addSecret('*', account.signingSecret);
    say(demoGreeting(installation.address, account, dataDir));
    const { address } = installation;
    setUpChannels(address, account, simulator, stopping.signal)
      .then(() => makeSpike(simulator, stopping.signal))
      .catch((error: unknown) => {
        if (!stopping.signal.aborted) say(`The channels or the spike could not be set up: ${String(error)}`);
      });
    showReadings(address, account, say, stopping.signal).catch((error: unknown) => {
      if (!stopping.signal.aborted) say(`The readings could not be shown: ${String(error)}`);
    });
    return { stop, givenUp: installation.givenUp };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts the simulator, if possible on the port of an earlier start, because the keywords contain this port. */
async function startWorld(known: DemoAccount | undefined, say: (line: string) => void): Promise<Simulator> {
  const port = known?.port ?? SIMULATOR_PORT;
  // The receiver needs the stored secret, because deliveries that waited for this start arrive before the account is
  // read.
  const secret = known?.signingSecret;
  const options = {
    seed: 7,
    ratePerSecond: 0.25,
    historyPosts: 60,
    // A spike alert needs the history of a day.
    historyHours: 48,
    kept: KEPT,
    log: say,
    secret,
  };
  return startSimulator({ ...options, port }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    say(`Port ${port} is in use: the simulated sources and the webhook receiver use another one.`);
    return startSimulator(options);
  });
}

/**
 * Changes prices and sells listings of the simulated market. Otherwise the demo would show no reduced and no sold
 * listings.
 */
function moveMarket({ world }: Simulator): void {
  const listings = world
    .posts('vinted')
    .filter(({ text, title }) => BRANDS.some(({ name }) => `${title} ${text}`.includes(name)))
    .slice(-FOLLOWED_LISTINGS);
  const [sold, reduced] = [listings[0], listings.at(-2)];
  if (reduced) world.change('vinted', reduced.id, { priceCents: Math.ceil(reduced.priceCents * 0.9) });
  if (sold && listings.length > FOLLOWED_LISTINGS / 2) world.remove('vinted', sold.id);
}

/**
 * Returns the account with its current signing secret, because `signing-secret rotate` can have replaced the first
 * secret.
 */
async function accountOn({ env }: Installation, dataDir: string, { url }: Simulator): Promise<DemoAccount> {
  const replicas = readSettings(['STREAM_REPLICAS'], env).STREAM_REPLICAS;
  const bus = await connectBus(env.NATS_URL ?? '', 'demo', createLogger('demo', 'error'), replicas);
  try {
    const account = await demoAccount(bus, dataDir, url);
    const signingSecret = await presentSigningSecret(env, account.accountId);
    return { ...account, signingSecret: signingSecret ?? account.signingSecret };
  } finally {
    await bus.close();
  }
}

function demoEnv(env: NodeJS.ProcessEnv, dataDir: string, simulator: Simulator): NodeJS.ProcessEnv {
  return {
    ...env,
    DATA_DIR: dataDir,
    EGRESS_ALLOW: '127.0.0.0/8',
    LOG_LEVEL: env.LOG_LEVEL ?? 'error',
    // The demo must show mentions within half a minute.
    INTERVAL_FLOOR_SECONDS: '1',
    ...simulatedSources(simulator.url),
    ...simulatedChannels(simulator),
  };
}
