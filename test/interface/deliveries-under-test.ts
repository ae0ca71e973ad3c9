import { create, toBinary } from '@bufbuild/protobuf';
import { attemptsIn, EventSchema, type Attempt } from '#contracts';
import { EventStore } from '#event-store';
import { derivedId, newId } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import type { RunningService } from '#platform';
import { openDatabase, type Database } from '#postgres';
import { SecretBox } from '#secrets';
import { createLogger } from '#telemetry';
import { until, type Json } from '#testing';
import { startReceiver, type Receiver } from '../../apps/delivery/testing/delivery-under-test.js';
import { keywordBody, startInterface, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';
import { startServicesWithoutSources } from './services-without-sources.js';

/** The interface, the services that answer its commands, and a receiver of webhooks. */
export interface DeliveriesUnderTest {
  service: InterfaceUnderTest;
  receiver: Receiver;
  bus: Bus;
  store: EventStore;
  database: Database;
  ada: Tenant;
  /**
   * Creates a keyword whose webhook is this path of the receiver. If the path is null, the keyword has no webhook.
   * @returns its id and the id of its first watch
   */
  keyword(
    path: string | null,
    more?: Record<string, unknown>,
  ): Promise<{ keywordId: string; watchId: string }>;
  /**
   * Appends events of the watch, one for each second, beginning `secondsAgo` seconds ago.
   * @returns ids and bytes, oldest first
   */
  events(
    ids: { keywordId: string; watchId: string },
    count: number,
    more?: { secondsAgo?: number; push?: boolean; type?: string },
  ): Promise<{ id: string; bytes: Buffer }[]>;
  attempts(accountId?: string): Promise<Attempt[]>;
  /** Returns Ada's signing secret. */
  secret(): Promise<string>;
  /** Waits until the replay has ended. */
  ended(id: string, tenant?: Tenant): Promise<Json>;
  stop(): Promise<void>;
}

/**
 * Starts the interface, the other services and the receiver.
 * @param withDelivery false if the spec runs delivery itself
 * @param more returns more settings. Called with an empty text for the services of the interface, and with the address
 *   of the gateway for the other services
 */
export async function startDeliveries(
  withDelivery = true,
  more: (url: string) => NodeJS.ProcessEnv = () => ({}),
): Promise<DeliveriesUnderTest> {
  const service = await startInterface(more(''));
  const others: RunningService[] = await startServicesWithoutSources(
    service.stores,
    withDelivery,
    more(service.url),
  );
  const receiver = await startReceiver();
  const bus = await connectBus(service.stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  const database = await openDatabase(service.stores.databaseUrl, 'spec', 2);
  const store = new EventStore(bus);
  const ada = await service.tenant();
  return {
    service,
    receiver,
    bus,
    store,
    database,
    ada,
    async keyword(path, more = {}) {
      const webhook = path === null ? {} : { webhook_url: `${receiver.url}${path}` };
      const { body } = await ada.api.post('/v1/keywords', keywordBody({ ...webhook, ...more }));
      return { keywordId: body.id, watchId: body.watches[0].id };
    },
    async events({ keywordId, watchId }, count, { secondsAgo = 3600, push = true, type } = {}) {
      const made = Array.from({ length: count }, (_, n) => {
        const id = derivedId('spec', newId());
        const occurredAt = new Date(Date.now() - (secondsAgo - n) * 1000).toISOString();
        // Spaces and characters beyond ASCII: exactly these bytes must be sent.
        const bytes = Buffer.from(`{"id": "${id}",  "post":{"text":"é 😀"}, "occurredAt":"${occurredAt}"}`);
        return { id, bytes, occurredAt };
      });
      // The newest event is stored first, so that the replay must sort the events.
      for (const { id, bytes, occurredAt } of [...made].reverse()) {
        const event = create(EventSchema, {
          eventId: id,
          accountId: ada.accountId,
          watchId,
          keywordId,
          source: 'hackernews',
          type: type ?? 'hn_item.created',
          occurredAt,
          envelope: bytes,
          push,
        });
        await store.publish(subjectOf('EVENTS', ada.accountId, watchId), toBinary(EventSchema, event), id);
      }
      return made.map(({ id, bytes }) => ({ id, bytes }));
    },
    async attempts(accountId = ada.accountId) {
      const stored = await store.read('ATTEMPTS', `attempts.${accountId}.>`);
      return stored.flatMap(({ data }) => attemptsIn(data));
    },
    async secret() {
      const rows: { sealed: Buffer }[] = await database.query(
        'SELECT signing_secret_encrypted AS sealed FROM accounts WHERE account_id = $1',
        [ada.accountId],
      );
      return new SecretBox('5e'.repeat(32)).open(rows[0]?.sealed ?? Buffer.alloc(0));
    },
    ended(id, tenant = ada) {
      return until(
        'the replay has ended',
        async () => {
          const { body } = await tenant.api.get(`/v1/replays/${id}`);
          return ['done', 'failed', 'cancelled'].includes(body.status) && body;
        },
        30_000,
      );
    },
    async stop() {
      await receiver.close();
      for (const other of others) await other.stop();
      await bus.close();
      await database.destroy();
      await service.stop();
    },
  };
}
