import { jetstream, jetstreamManager, type JetStreamClient, type JetStreamManager } from '@nats-io/jetstream';
import { connect, type ConnectionOptions, type NatsConnection } from '@nats-io/transport-node';
import type { Logger } from '#telemetry';
import { untilAnswered } from './jetstream-requests.js';
import { ensureStreams, requireStreams } from './streams.js';

/** An idle server answers within a millisecond. A cluster that elects a leader answers nothing for 4 to 9 s. */
const READ_TIMEOUT_MS = 2000;

/** One service's connection to NATS. */
export interface Bus {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  /** For reads of single messages. A read fails after 2 s without an answer: its caller can hold locks and connections. */
  readonly reads: JetStreamManager;
  /**
   * The prefix of the subjects on which this service receives replies. No other service needs the right to read there.
   */
  readonly inboxPrefix: string;
  /** Lets running work finish, then closes the connection. */
  close(): Promise<void>;
}

/**
 * Connects, and creates missing streams unless `createsStreams` is false. If the connection is lost later, the client
 * connects again, without a limit of attempts.
 * @param url `nats://[user:password@]host:port`, several separated by commas; credentials once, or the same in each. A
 *   user without a password is a token. With `tls://`, a server without TLS is refused before it gets the credentials
 * @param streamReplicas copies that the cluster keeps of each stream that this call creates
 * @throws Error if no server can be reached at the first attempt, or if the server has no JetStream. Also if streams
 *   are missing and cannot be created, or `createsStreams` is false
 */
export async function connectBus(
  url: string,
  name: string,
  log: Logger,
  streamReplicas = 1,
  { createsStreams = true } = {},
): Promise<Bus> {
  const inboxPrefix = `_INBOX.${name}`;
  const nc = await connect({
    ...addressOf(url),
    inboxPrefix,
    name: `earshot-${name}`,
    maxReconnectAttempts: -1,
    waitOnFirstConnect: false,
    reconnectTimeWait: 500,
    // Otherwise each request creates two error objects in advance. That takes as long as encoding the request.
    noAsyncTraces: true,
  });
  void logStatus(nc, log);
  try {
    const jsm = await untilAnswered(() => openJetStream(nc));
    await untilAnswered(() => (createsStreams ? ensureStreams(jsm, streamReplicas) : requireStreams(jsm)));
    const reads = await jetstreamManager(nc, { checkAPI: false, timeout: READ_TIMEOUT_MS });
    // The default of 5 s is too short: a purge of a large stream delays publishers for several seconds.
    return { nc, js: jetstream(nc, { timeout: 15_000 }), jsm, reads, inboxPrefix, close: () => nc.drain() };
  } catch (error) {
    // An open connection would keep the process alive.
    await nc.close();
    throw error;
  }
}

/** @throws Error if the server was started without JetStream; not an outage, because waiting would not help */
async function openJetStream(nc: NatsConnection): Promise<JetStreamManager> {
  try {
    return await jetstreamManager(nc);
  } catch (error) {
    if (error instanceof Error && error.name === 'JetStreamNotEnabled')
      throw new Error('the server has no JetStream; start nats-server with -js', { cause: error });
    throw error;
  }
}

async function logStatus(nc: NatsConnection, log: Logger): Promise<void> {
  for await (const status of nc.status())
    if (status.type === 'error') log.warn({ nats: status.type, err: status.error }, 'NATS: error');
    else if (status.type === 'disconnect' || status.type === 'reconnect')
      log.warn({ nats: status.type }, `NATS: ${status.type}`);
}

/** Splits addresses and credentials, because the client expects them separately. */
function addressOf(text: string): ConnectionOptions {
  const urls = text
    .split(',')
    .map((address) => new URL(address.includes('://') ? address : `nats://${address}`));
  const withUser = urls.find(({ username }) => username !== '');
  // The NATS client ignores the scheme of an address. It uses TLS only if the server or this option asks for it.
  const tls = urls.some(({ protocol }) => protocol === 'tls:') ? {} : undefined;
  const options = { servers: urls.map(({ host }) => host), tls };
  if (!withUser) return options;
  const [user, pass] = [decodeURIComponent(withUser.username), decodeURIComponent(withUser.password)];
  return pass === '' ? { ...options, token: user } : { ...options, user, pass };
}
