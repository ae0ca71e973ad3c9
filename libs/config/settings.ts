import ipaddr from 'ipaddr.js';
import { cleanEnv, makeValidator, port, str, type CleanedEnv, type ValidatorSpec } from 'envalid';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const masterKey = makeValidator((text: string) => {
  if (!/^[0-9a-f]{64}(,[0-9a-f]{64})*$/i.test(text))
    throw new Error(
      '64 hexadecimal characters (32 bytes) are wanted; during a rotation the new key, a comma, the old key',
    );
  return text.toLowerCase();
});

const positiveInteger = makeValidator((text: string) => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error('a whole number greater than 0 is wanted');
  return value;
});

const ratio = makeValidator((text: string) => {
  const value = Number(text);
  if (!(value >= 0 && value <= 1)) throw new Error('a number from 0 to 1 is wanted');
  return value;
});

const url = makeValidator((text: string) => {
  if (!URL.canParse(text) || !/^https?:/.test(text)) throw new Error('http://host:port is wanted');
  return text;
});

const addresses = makeValidator((text: string) => {
  const wrong = text.split(',').find((one) => {
    const address = one.trim();
    return !ipaddr.isValid(address) && !ipaddr.isValidCIDR(address);
  });
  if (wrong !== undefined) throw new Error(`"${wrong.trim()}" is neither an address nor a CIDR`);
  return text;
});

const token = makeValidator((text: string) => {
  if (!/^[\x21-\x7e]{16,200}$/.test(text)) throw new Error('16 to 200 visible ASCII characters are wanted');
  return text;
});

/**
 * Every setting of Earshot. `npm run -s config` lists them with their defaults. An app reads the ones it names
 * through `readSettings`, once, at its start.
 */
export const SETTINGS = {
  PORT: port({
    default: 8080,
    desc: 'HTTP port of the gateway; of /healthz, /readyz and /metrics on a lone service',
  }),
  HOST: str({
    default: '127.0.0.1',
    desc: 'Address that HTTP listens on; 0.0.0.0 opens it to the network',
  }),
  OPERATIONS_TOKEN: token({
    default: '',
    desc: 'Opens /readyz and /metrics (authorization: Bearer …); demanded where it is set or HOST is not loopback',
  }),
  TRUST_PROXY: addresses({
    default: '',
    desc: 'Addresses and CIDRs, separated by commas, of proxies whose X-Forwarded-For and -Proto are believed',
  }),
  MAX_CONNECTIONS: positiveInteger({
    default: 1000,
    desc: 'HTTP connections at once; further ones are closed without an answer',
  }),
  HTTP_HEADERS_TIMEOUT_MS: positiveInteger({
    default: 10_000,
    desc: 'How long the headers of an HTTP request may take to arrive, in ms',
  }),
  HTTP_REQUEST_TIMEOUT_MS: positiveInteger({
    default: 30_000,
    desc: 'How long a whole HTTP request may take to arrive, in ms',
  }),
  DATA_DIR: str({ default: '.data', desc: 'Where the embedded stores keep their data' }),
  NATS_URL: str({ default: '', desc: 'NATS server, nats://host:port; unset: embedded' }),
  DATABASE_URL: str({
    default: '',
    desc: 'PostgreSQL, postgres://user:password@host:port/db; unset: embedded',
  }),
  CLICKHOUSE_URL: str({ default: '', desc: 'ClickHouse HTTP, http://host:port; unset: embedded' }),
  MASTER_KEY: masterKey({
    default: '',
    desc: 'Encrypts signing secrets at rest: 64 hexadecimal characters (during a rotation new,old); unset with embedded stores: made once and kept in DATA_DIR',
  }),
  EGRESS_ALLOW: str({
    default: '',
    desc: 'CIDRs, separated by commas, that webhooks and feeds may reach although private',
  }),
  LOG_LEVEL: str({ choices: LOG_LEVELS, default: 'info', desc: 'Least severe log line that is written' }),
  POLL_TICK_MS: positiveInteger({
    default: 250,
    desc: 'How often a polling replica looks for due work, in ms',
  }),
  LANE_LEASE_MS: positiveInteger({
    default: 6000,
    desc: 'How long a lane stays with a polling replica that has fallen silent, in ms',
  }),
  WEBHOOK_ENDPOINT_CONCURRENCY: positiveInteger({
    default: 16,
    desc: 'Webhook requests under way at once to one endpoint',
  }),
  STREAM_REPLICAS: positiveInteger({
    default: 1,
    desc: 'Copies that a NATS cluster keeps of each stream; read when the streams are first made',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: url({
    default: '',
    desc: 'OTLP over HTTP that takes spans, http://host:4318; unset: no span is recorded',
  }),
  OTEL_TRACES_SAMPLER: str({
    choices: ['parentbased_traceidratio', 'always_on', 'always_off'],
    default: 'parentbased_traceidratio',
    desc: 'Which traces are recorded: those of a caller who records, and of the others a share',
  }),
  OTEL_TRACES_SAMPLER_ARG: ratio({
    default: 0.01,
    desc: 'Share of the traces that are recorded, 0 to 1',
  }),
  INTERVAL_FLOOR_SECONDS: positiveInteger({
    default: undefined,
    desc: 'Replaces the interval floor of every plan and source, in seconds; for tests',
  }),
  SHUTDOWN_GRACE_MS: positiveInteger({
    default: 5000,
    desc: 'How long work under way may take at a stop, in ms; the embedded stores are stopped after it, within 4 s',
  }),
} as const satisfies Record<string, ValidatorSpec<unknown>>;

/** The name of a setting. */
export type SettingName = keyof typeof SETTINGS;
/** Values of the named settings, typed. */
export type Settings<N extends SettingName> = CleanedEnv<Pick<typeof SETTINGS, N>>;

/** A setting is missing or wrong; the message names every one of them, and is all that a person needs to see. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/**
 * Reads settings that a library checks by itself (sources, address ranges).
 * @throws SettingsError with the words of what `read` throws
 */
export function inSettings<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new SettingsError(
      `Settings are wrong:\n  ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/**
 * Reads the named settings from the environment.
 * @throws SettingsError naming each bad setting and what it should be.
 */
export function readSettings<const N extends SettingName>(
  names: readonly N[],
  env: NodeJS.ProcessEnv = process.env,
): Settings<N> {
  const specs = Object.fromEntries(names.map((name) => [name, SETTINGS[name]])) as Pick<typeof SETTINGS, N>;
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  return cleanEnv(given, specs, {
    reporter: ({ errors }) => {
      const faults = Object.entries(errors).map(([name, error]) => `${name}: ${(error as Error).message}`);
      if (faults.length > 0) throw new SettingsError(`Settings are wrong:\n  ${faults.join('\n  ')}`);
    },
  });
}

/** Requires values that a lone service cannot do without. @throws SettingsError naming the missing ones. */
export function requireSettings(values: Record<string, unknown>, ...names: readonly SettingName[]): void {
  const missing = names.filter((name) => !values[name]);
  if (missing.length > 0)
    throw new SettingsError(
      `Settings are missing (a service that runs alone needs them; npm start brings its own):\n  ${missing.map((name) => `${name}: ${SETTINGS[name].desc}`).join('\n  ')}`,
    );
}
