import { jetstream, jetstreamManager, type JetStreamClient, type JetStreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { Logger } from '#telemetry';
import { ensureStreams } from './streams.js';

/** One service's connection to NATS. */
export interface Bus {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  /** Lets what is under way finish, then closes. */
  close(): Promise<void>;
}

/**
 * Connects, waits for the server at a start, and makes the streams that are missing. Reconnects for ever.
 * @param url `nats://host:port`, several separated by commas
 * @param streamReplicas copies that the cluster keeps of each stream that is made now
 */
export async function connectBus(url: string, name: string, log: Logger, streamReplicas = 1): Promise<Bus> {
  const nc = await connect({
    servers: url.split(','),
    name: `earshot-${name}`,
    maxReconnectAttempts: -1,
    waitOnFirstConnect: false,
    reconnectTimeWait: 500,
  });
  void logStatus(nc, log);
  const jsm = await jetstreamManager(nc);
  await ensureStreams(jsm, streamReplicas);
  // The default of 5 s is shorter than a purge of a large stream, which stalls publishers for seconds.
  return { nc, js: jetstream(nc, { timeout: 15_000 }), jsm, close: () => nc.drain() };
}

async function logStatus(nc: NatsConnection, log: Logger): Promise<void> {
  for await (const status of nc.status())
    if (status.type === 'disconnect' || status.type === 'reconnect' || status.type === 'error')
      log.warn({ nats: status.type }, `NATS: ${status.type}`);
}
