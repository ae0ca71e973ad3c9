import { create, toBinary } from '@bufbuild/protobuf';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { attemptsIn, EventSchema, type Attempt } from '#contracts';
import { EventStore } from '#event-store';
import { derivedId, isoOf, newId, systemClock } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { startService, type RunningService } from '#platform';
import { openDatabase, type Database } from '#postgres';
import { newSigningSecret, SecretBox } from '#secrets';
import { createLogger } from '#telemetry';
import { isolateStores, programEnv, until } from '#testing';
import { readDeliveryConfig } from '../config.js';
import { deliveryService } from '../delivery.module.js';

// For specs only: the service with separate stores, and a receiver of its webhooks.

/** One request to a receiver. */
export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** A webhook receiver on this machine. */
export interface Receiver {
  url: string;
  received: Received[];
  /** The response for a path; 200 by default. With status 0 the receiver never responds. */
  answers: Map<string, { status: number; headers?: Record<string, string> }>;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const answers: Receiver['answers'] = new Map();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url ?? '';
      received.push({ path, headers: request.headers, body: Buffer.concat(chunks) });
      const { status, headers } = answers.get(path) ?? { status: 200 };
      if (status !== 0) response.writeHead(status, headers).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answers,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A delivery that waits for another attempt. */
interface Pending {
  attempts: number;
  dueInMs: number;
}

/** The service and its environment. */
export interface DeliveryUnderTest {
  database: Database;
  bus: Bus;
  store: EventStore;
  accountId: string;
  secret: string;
  /** Starts the service. Several instances can run at the same time or one after another. */
  start(env?: NodeJS.ProcessEnv): Promise<RunningService>;
  /** Creates a watch that sends to the address, in this `webhookMode`. */
  watch(endpoint: string, mode?: 'all' | 'rules'): Promise<string>;
  /** Appends an event of the watch. @returns its id and the bytes of its envelope */
  event(watchId: string, push?: boolean, ruleWebhook?: boolean): Promise<{ eventId: string; bytes: Buffer }>;
  /** Appends an event of the watch for each `traceparent`, all at the same time. @returns their ids */
  events(watchId: string, causes: readonly string[]): Promise<string[]>;
  pending(eventId: string): Promise<Pending | undefined>;
  /** Waits until the delivery has had this number of attempts and is pending. */
  waiting(eventId: string, attempts: number): Promise<Pending>;
  /** Makes all pending deliveries due now. */
  makeDue(): Promise<void>;
  /** Returns the attempts of the event in ATTEMPTS, oldest first. */
  attemptsOf(eventId: string): Promise<Attempt[]>;
  /** Waits until ATTEMPTS has this number of attempts of the event. */
  attempts(eventId: string, count: number): Promise<Attempt[]>;
  drop(): Promise<void>;
}

export async function openDelivery(): Promise<DeliveryUnderTest> {
  const stores = await isolateStores();
  const database = await openDatabase(stores.databaseUrl, 'spec');
  const bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  const store = new EventStore(bus);
  const env = programEnv(stores, { LOG_LEVEL: 'silent' });
  const accountId = newId();
  const secret = newSigningSecret();
  const sealed = new SecretBox(env.MASTER_KEY ?? '').seal(secret);
  await database.query(
    `INSERT INTO accounts (account_id, email, plan, signing_secret_encrypted, created_at) VALUES ($1, 'a@example.org', 'unlimited', $2, now())`,
    [accountId, sealed],
  );
  const delivery: DeliveryUnderTest = {
    database,
    bus,
    store,
    accountId,
    secret,
    start(more = {}) {
      const config = readDeliveryConfig({ ...env, ...more });
      return startService(deliveryService(config), config, false);
    },
    async watch(endpoint, mode = 'all') {
      const watchId = newId();
      await database.query(
        `INSERT INTO watches (watch_id, account_id, source, criteria, criteria_hash, interval_seconds, webhook_url, webhook_mode,
           analysis, backfill, is_active, created_at, updated_at)
         VALUES ($1, $2, 'hackernews', '{}', 'hash', 60, $3, $4, false, false, true, now(), now())`,
        [watchId, accountId, endpoint, mode],
      );
      return watchId;
    },
    async event(watchId, push = true, ruleWebhook = false) {
      const { subject, data, msgId: eventId, bytes } = eventOf(accountId, watchId, push, ruleWebhook);
      await store.publish(subject, data, eventId);
      return { eventId, bytes };
    },
    async events(watchId, causes) {
      const messages = causes.map((cause) => ({ ...eventOf(accountId, watchId, true), cause }));
      await store.publishAll(messages);
      return messages.map(({ msgId }) => msgId);
    },
    async pending(eventId) {
      const rows: { attempts: number; due_in_ms: number }[] = await database.query(
        `SELECT attempts, (extract(epoch FROM due_at - now()) * 1000)::float8 AS due_in_ms FROM pending_deliveries WHERE event_id = $1`,
        [eventId],
      );
      return rows[0] && { attempts: rows[0].attempts, dueInMs: rows[0].due_in_ms };
    },
    waiting(eventId, attempts) {
      return until(`attempt ${attempts} was recorded`, async () => {
        const row = await delivery.pending(eventId);
        return row?.attempts === attempts && row;
      });
    },
    async makeDue() {
      // The time is not now(), because the column rounds to milliseconds: the delivery could become due half a
      // millisecond after the claim.
      await database.query(`UPDATE pending_deliveries SET due_at = now() - interval '1 minute'`);
    },
    async attemptsOf(eventId) {
      const stored = await store.read('ATTEMPTS', 'attempts.>');
      return stored.flatMap(({ data }) => attemptsIn(data)).filter((attempt) => attempt.eventId === eventId);
    },
    attempts(eventId, count) {
      return until(`${count} attempts are recorded`, async () => {
        const rows = await delivery.attemptsOf(eventId);
        return rows.length >= count && rows;
      });
    },
    async drop() {
      await bus.close();
      await database.destroy();
      await stores.drop();
    },
  };
  return delivery;
}

function eventOf(accountId: string, watchId: string, push: boolean, ruleWebhook = false) {
  const eventId = derivedId('spec', newId());
  // The body contains spaces and characters beyond ASCII, because exactly these bytes must be sent.
  const bytes = Buffer.from(`{"id": "${eventId}",  "post":{"text":"é 😀"} }`);
  const event = create(EventSchema, {
    eventId,
    accountId,
    watchId,
    source: 'hackernews',
    type: 'hn_item.created',
    occurredAt: isoOf(systemClock.now()),
    envelope: bytes,
    push,
    ruleWebhook,
  });
  const data = toBinary(EventSchema, event);
  return { subject: subjectOf('EVENTS', accountId, watchId), data, msgId: eventId, bytes };
}

/** Waits until a receiver has received this number of requests on a path. */
export function receivedRequests(receiver: Receiver, path: string, count: number): Promise<Received[]> {
  return until(`${count} requests on ${path}`, () => {
    const found = receiver.received.filter((one) => one.path === path);
    return found.length >= count && found;
  });
}
