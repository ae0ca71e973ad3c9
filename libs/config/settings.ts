import { bool, cleanEnv, port, str, type CleanedEnv, type ValidatorSpec } from 'envalid';
import {
  masterKey,
  wholeNumber,
  positiveInteger,
  milliseconds,
  ratio,
  temperature,
  url,
  baseUrl,
  smtpUrl,
  mailFrom,
  addresses,
  token,
} from './validators.js';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/**
 * All settings of Earshot, except those of the sources (`libs/sources/registry.ts`). `npm run -s config` prints both. An
 * app lists the settings that it needs, and reads them once, at its start, with `readSettings`.
 */
export const SETTINGS = {
  PORT: port({
    default: 8080,
    desc: 'HTTP port of the gateway. If a service runs alone: the port of its /healthz, /readyz and /metrics',
  }),
  HOST: str({
    default: '127.0.0.1',
    desc: 'Address that HTTP listens on; 0.0.0.0 opens Earshot to the network',
  }),
  OPERATIONS_TOKEN: token({
    default: '',
    desc: 'Token for /readyz and /metrics (authorization: Bearer …). If it is set, requests must send it. If it is not set, only a HOST on loopback allows these requests',
  }),
  TRUST_PROXY: addresses({
    default: '',
    desc: 'Addresses and CIDRs, separated by commas, of proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted',
  }),
  MAX_CONNECTIONS: positiveInteger({
    default: 1000,
    desc: 'Maximum number of HTTP connections; further connections are closed without a response',
  }),
  HTTP_HEADERS_TIMEOUT_MS: milliseconds({
    default: 10_000,
    desc: 'Time limit for the headers of an HTTP request, in ms; never longer than HTTP_REQUEST_TIMEOUT_MS',
  }),
  HTTP_REQUEST_TIMEOUT_MS: milliseconds({
    default: 30_000,
    desc: 'Time limit for a whole HTTP request to arrive, in ms. A connection is closed if its client reads nothing of a response for twice this time',
  }),
  DATA_DIR: str({ default: '.data', desc: 'Directory of the embedded stores' }),
  NATS_URL: str({ default: '', desc: 'NATS server, nats://host:port. Default: the embedded server' }),
  DATABASE_URL: str({
    default: '',
    desc: 'PostgreSQL, postgres://user:password@host:port/db. Default: the embedded server',
  }),
  CLICKHOUSE_URL: str({
    default: '',
    desc: 'ClickHouse over HTTP, http://host:port. Default: the embedded engine',
  }),
  MASTER_KEY: masterKey({
    default: '',
    desc: 'Key that encrypts secrets at rest (signing secrets, channel addresses and tokens) and signs cursors, estimate tokens, codes and secret addresses: 64 hexadecimal characters (during a rotation new,old). Default with embedded stores: created once in DATA_DIR',
  }),
  PUBLIC_URL: baseUrl({
    default: '',
    desc: 'Address of the gateway for people, https://earshot.example.org: links in messages begin with it. Default with npm start: the local address',
  }),
  SMTP_URL: smtpUrl({
    default: '',
    desc: 'Mail server, smtp://user:password@host:587 or smtps://user:password@host:465; needs PUBLIC_URL. Default: no email channels, and no mails for sign-up and forgotten passwords',
  }),
  MAIL_FROM: mailFrom({
    default: '',
    desc: 'Sender of mails, address or Name <address>. Default: earshot@ and the host of SMTP_URL, or earshot@localhost if that host is an IP address or has no dot',
  }),
  SMTP_REQUIRE_TLS: bool({
    default: true,
    desc: 'Whether a mail server without STARTTLS is refused. A server on loopback is never refused',
  }),
  CHANNEL_SLACK_URL: url({
    default: '',
    desc: 'Replaces scheme, host and port of every request to Slack, for proxies and tests; path and query stay',
  }),
  CHANNEL_DISCORD_URL: url({ default: '', desc: 'Like CHANNEL_SLACK_URL, for Discord' }),
  CHANNEL_TEAMS_URL: url({ default: '', desc: 'Like CHANNEL_SLACK_URL, for Microsoft Teams' }),
  CHANNEL_TELEGRAM_URL: url({ default: '', desc: 'Like CHANNEL_SLACK_URL, for Telegram' }),
  SIGN_UP: str({
    choices: ['off', 'invite', 'open'] as const,
    default: 'invite' as const,
    desc: 'Who can sign up on the page: off (nobody), invite (the first account by its code, then invited people), open (everybody who confirms an address; needs SMTP_URL)',
  }),
  PLAN_CHANGES: str({
    choices: ['owner', 'cli'] as const,
    default: undefined,
    desc: 'Who changes plans and adds packs of credits: owner (the owners of an account, on the page) or cli (only the command line). Default: cli with SIGN_UP=open, otherwise owner',
  }),
  MCP_DAILY_CREDITS: wholeNumber({ min: 0 })({
    default: 1000,
    desc: 'Maximum credits that one API key can spend through MCP in a UTC day. A new keyword counts with the credits of its first checks or scans and of one day. 0: no credits',
  }),
  EGRESS_ALLOW: str({
    default: '',
    desc: 'Private CIDRs, separated by commas, to which Earshot can send requests for webhooks, channels, and servers named in a search (feeds, instances of Mastodon and Lemmy)',
  }),
  LLM_URL: baseUrl({
    default: '',
    desc: 'Base address of an OpenAI-compatible server, https://api.openai.com/v1; /chat/completions is appended. Default: no language model',
  }),
  LLM_MODEL: str({ default: '', desc: 'Name of the model at LLM_URL; required if LLM_URL is set' }),
  LLM_TOKEN: str({ default: '', desc: 'Token of LLM_URL (authorization: Bearer …), if it needs one' }),
  LLM_TEMPERATURE: temperature({
    default: 0,
    desc: 'Temperature of the model, 0 to 2; none: it is not sent, for models that do not accept it',
  }),
  LLM_CONCURRENCY: positiveInteger({
    default: 4,
    desc: 'Maximum number of concurrent requests of all replicas to LLM_URL',
  }),
  LLM_REQUESTS_PER_MINUTE: positiveInteger({
    default: 120,
    desc: 'Maximum number of requests of all replicas to LLM_URL in a minute',
  }),
  LLM_TIMEOUT_MS: milliseconds({
    default: 60_000,
    desc: 'Time limit for one request to LLM_URL, in ms. A request also ends when its event has waited 120 s',
  }),
  EMBEDDINGS_URL: baseUrl({
    default: '',
    desc: 'Base address of an OpenAI-compatible server that embeds mentions and questions; /embeddings is appended. Default: the local model. After a change, run embeddings backfill',
  }),
  EMBEDDINGS_MODEL: str({
    default: '',
    desc: 'Name of the model at EMBEDDINGS_URL; required if EMBEDDINGS_URL is set',
  }),
  EMBEDDINGS_TOKEN: str({
    default: '',
    desc: 'Token of EMBEDDINGS_URL (authorization: Bearer …), if it needs one',
  }),
  LOG_LEVEL: str({
    choices: LOG_LEVELS,
    default: 'info',
    desc: 'Minimum level of the log lines that are written',
  }),
  POLL_TICK_MS: milliseconds({
    default: 250,
    desc: 'Time after which a polling replica looks for due work again, in ms',
  }),
  LANE_LEASE_MS: milliseconds({
    default: 6000,
    desc: 'Time after which another polling replica takes over a lane whose replica no longer renews its lease, in ms',
  }),
  WEBHOOK_ENDPOINT_CONCURRENCY: positiveInteger({
    default: 16,
    desc: 'Maximum number of concurrent requests of one delivery replica to one webhook address or channel',
  }),
  STREAM_REPLICAS: wholeNumber({ max: 5 })({
    default: 1,
    desc: 'Number of copies of each stream in a NATS cluster. Only used when the streams are created',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: url({
    default: '',
    desc: 'OTLP/HTTP collector that receives spans, http://host:4318. Default: no span is recorded',
  }),
  OTEL_TRACES_SAMPLER: str({
    choices: ['parentbased_traceidratio', 'always_on', 'always_off'],
    default: 'parentbased_traceidratio',
    desc: 'Which traces are recorded: always_on (all), always_off (none), parentbased_traceidratio (the traces that the caller records, and the share OTEL_TRACES_SAMPLER_ARG of the others)',
  }),
  OTEL_TRACES_SAMPLER_ARG: ratio({
    default: 0.01,
    desc: 'Share of the traces to record, 0 to 1; only for parentbased_traceidratio',
  }),
  TRUST_TRACEPARENT: bool({
    default: false,
    desc: 'Whether a request continues the trace of its traceparent header, including the decision to record it. Only for installations behind a trusted gateway',
  }),
  INTERVAL_FLOOR_SECONDS: positiveInteger({
    default: undefined,
    desc: 'Shortest interval for every source, in seconds. Replaces the shortest intervals of the plans; for tests',
  }),
  SHUTDOWN_GRACE_MS: milliseconds({
    default: 5000,
    desc: 'Time in which running work can finish when the process stops, in ms. The embedded stores are stopped afterwards, within 4 s',
  }),
} as const satisfies Record<string, ValidatorSpec<unknown>>;

/** The name of a setting. */
export type SettingName = keyof typeof SETTINGS;
/** Values of the named settings, typed. */
export type Settings<N extends SettingName> = CleanedEnv<Pick<typeof SETTINGS, N>>;

/** A setting or the state of the stores prevents a start or a command. Show the message to the user unchanged. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/**
 * Reads settings that a library checks itself (sources, address ranges).
 * @throws SettingsError with the message of the error that `read` throws
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
 * Reads the listed settings from the environment.
 * @throws SettingsError that names each wrong setting and its correct form
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

/**
 * Requires settings that a service needs when it runs alone.
 * @throws SettingsError that names the missing settings
 */
export function requireSettings(values: Record<string, unknown>, ...names: readonly SettingName[]): void {
  const missing = names.filter((name) => !values[name]);
  if (missing.length > 0)
    throw new SettingsError(
      `Settings are missing (a service that runs alone needs them; npm start starts its own stores):\n  ${missing.map((name) => `${name}: ${SETTINGS[name].desc}`).join('\n  ')}`,
    );
}
