import { isIPv6 } from 'node:net';
import { resolve } from 'node:path';
import { readSettings, type Settings } from '#config';
import { startEmbedded } from '#embedded';
import { PLATFORM_SETTINGS, startService, type RunningService } from '#platform';
import { createLogger, startTracing } from '#telemetry';
import { masterKeys } from '#secrets';
import { analysisService } from '../analysis/analysis.module.js';
import { readAnalysisConfig } from '../analysis/config.js';
import { billingService } from '../billing/billing.module.js';
import { readBillingConfig } from '../billing/config.js';
import { deliveryService } from '../delivery/delivery.module.js';
import { readDeliveryConfig } from '../delivery/config.js';
import { gatewayService } from '../gateway/gateway.module.js';
import { readGatewayConfig } from '../gateway/config.js';
import { keywordsService } from '../keywords/keywords.module.js';
import { readKeywordsConfig } from '../keywords/config.js';
import { pollingService } from '../polling/polling.module.js';
import { readPollingConfig } from '../polling/config.js';
import { dropEarlierKeys, masterKeyIn } from './master-key.js';
import { choosePort } from './port.js';
import { holdsSecrets, isSealedUnder } from './sealed-secrets.js';

const INSTALLATION_SETTINGS = [...PLATFORM_SETTINGS, 'DATA_DIR', 'MASTER_KEY'] as const;

/**
 * The service that encrypts its secrets last after a rotation of the master key: billing and delivery encrypt their
 * secrets again when they start, and delivery starts after billing.
 */
const LAST_TO_ENCRYPT = 'delivery';

/** The settings of the process that hosts all services. */
export type InstallationSettings = Settings<(typeof INSTALLATION_SETTINGS)[number]>;

/** Reads the settings of the process, and checks those of all services. @throws SettingsError if one is invalid */
export function readInstallationSettings(env: NodeJS.ProcessEnv): InstallationSettings {
  const settings = readSettings(INSTALLATION_SETTINGS, env);
  // Checks the settings of all services before anything starts.
  const checked = {
    ...env,
    NATS_URL: settings.NATS_URL || 'embedded',
    DATABASE_URL: settings.DATABASE_URL || 'embedded',
    CLICKHOUSE_URL: settings.CLICKHOUSE_URL || 'embedded',
    MASTER_KEY: settings.MASTER_KEY || '0'.repeat(64),
    PUBLIC_URL: env.PUBLIC_URL || 'http://127.0.0.1:8080',
  };
  readGatewayConfig(checked);
  readKeywordsConfig(checked);
  readPollingConfig(checked);
  readAnalysisConfig(checked);
  readBillingConfig(checked);
  readDeliveryConfig(checked);
  return settings;
}

const LOOPBACK = '127.0.0.1';
/** With these values of HOST, Earshot listens on all addresses of the machine. */
const ALL_ADDRESSES: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** Returns the address at which this machine reaches an installation that listens on `host`. */
export function addressOf(host: string, port: number): string {
  const reachable = ALL_ADDRESSES.has(host) ? LOOPBACK : host;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}

/**
 * Returns the value of PUBLIC_URL if it is not set: the address of the installation. An IPv6 address with a zone, such
 * as `fe80::1%eth0`, cannot be part of a URL; then the value is the loopback address.
 */
export function publicUrlOf(address: string, port: number): string {
  return URL.canParse(address) ? address : `http://${LOOPBACK}:${port}`;
}

/** A running installation. */
export interface Installation {
  /** For example `http://127.0.0.1:8080`. */
  address: string;
  /** The environment of the services, including the addresses of the stores and the master key. */
  env: NodeJS.ProcessEnv;
  /** Resolves when a store that this process started has ended and is not started again. The value is the reason. */
  givenUp: Promise<Error>;
  /** Stops the services, then the stores that this process started. */
  stop(): Promise<void>;
}

/**
 * Starts the stores whose addresses are not set, then all six services in this process.
 * @param signal cancels the start; everything that was started is stopped before the function throws
 */
export async function startInstallation(
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
  signal?: AbortSignal,
): Promise<Installation> {
  const settings = readInstallationSettings(env);
  const dataDir = resolve(settings.DATA_DIR);
  const port = await choosePort(settings.PORT, settings.HOST, Boolean(env.PORT), say);
  const address = addressOf(settings.HOST, port);
  say('Starting …');
  const stores = await startEmbedded({
    dataDir,
    natsUrl: settings.NATS_URL,
    databaseUrl: settings.DATABASE_URL,
    clickhouseUrl: settings.CLICKHOUSE_URL,
    log: { info: say, warn: say },
    signal,
  });
  // Without this call, all spans would have the name of the service that starts first.
  startTracing('earshot', settings, createLogger('earshot', settings.LOG_LEVEL));
  const services: RunningService[] = [];
  const stop = async () => {
    await stopServices(services, settings.SHUTDOWN_GRACE_MS).catch((error: unknown) =>
      say(`The services did not stop cleanly: ${String(error)}`),
    );
    await stores.stop();
  };
  try {
    const complete: NodeJS.ProcessEnv = {
      ...env,
      PORT: String(port),
      NATS_URL: stores.natsUrl,
      DATABASE_URL: stores.databaseUrl,
      CLICKHOUSE_URL: stores.clickhouseUrl,
      MASTER_KEY:
        settings.MASTER_KEY ||
        (await masterKeyIn(dataDir, () => holdsSecrets(stores, settings.STREAM_REPLICAS))),
      PUBLIC_URL: env.PUBLIC_URL || publicUrlOf(address, port),
    };
    for (const start of startersOf(complete)) {
      signal?.throwIfAborted();
      const service = await start();
      services.push(service);
      if (service.name === LAST_TO_ENCRYPT && !settings.MASTER_KEY)
        await finishRotation(dataDir, stores.databaseUrl, complete.MASTER_KEY ?? '');
    }
    return { address, env: complete, givenUp: stores.givenUp, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Called after billing and delivery have started: by then, both have encrypted with the current key everything that
 * they can decrypt. Removes the earlier keys from the data directory if nothing is encrypted with them any more.
 */
async function finishRotation(dataDir: string, databaseUrl: string, masterKey: string): Promise<void> {
  const [present, ...earlier] = masterKeys(masterKey);
  if (earlier.length > 0 && (await isSealedUnder(databaseUrl, present))) dropEarlierKeys(dataDir);
}

/**
 * Stops the gateway first, in at most half of the time, so that no new requests arrive while the other services finish.
 */
async function stopServices(services: readonly RunningService[], graceMs: number): Promise<void> {
  const deadline = Date.now() + graceMs;
  const gateway = services.find(({ name }) => name === 'gateway');
  await gateway?.stop(graceMs / 2);
  const others = services.filter((service) => service !== gateway);
  await Promise.all(others.map((service) => service.stop(Math.max(0, deadline - Date.now()))));
}

/**
 * Returns the starters of the services, in order. Billing comes before delivery (see `LAST_TO_ENCRYPT`). The gateway
 * comes last, because it needs the other services.
 */
function startersOf(env: NodeJS.ProcessEnv): (() => Promise<RunningService>)[] {
  const billing = readBillingConfig(env);
  const keywords = readKeywordsConfig(env);
  const polling = readPollingConfig(env);
  const analysis = readAnalysisConfig(env);
  const delivery = readDeliveryConfig(env);
  const gateway = readGatewayConfig(env);
  return [
    () => startService(billingService(billing), billing, false),
    () => startService(keywordsService(keywords), keywords, false),
    () => startService(analysisService(analysis), analysis, false),
    () => startService(deliveryService(delivery), delivery, false),
    () => startService(pollingService(polling), polling, false),
    () => startService(gatewayService(gateway), gateway),
  ];
}
