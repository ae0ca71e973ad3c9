import { create } from '@bufbuild/protobuf';
import { LookUpSchema } from '#contracts';
import { newId, type Refusal } from '#kernel';
import { lookupCommand } from '#messaging';
import type { Lookup, SourceConnector } from '#sources';
import { createLogger } from '#telemetry';
import { fundAccount } from '#testing';
import { CommandClient, NatsStrategy } from '#transport';
import { NOTHING_LEARNED } from '../lanes/lane-memory.js';
import { Lane } from '../lanes/lane.js';
import { LookupWorker } from '../lookups/lookup-worker.js';
import { openPollingStores, Upstream, type PollingStores } from './polling-under-test.js';

/** A worker of lookups in real stores, with an upstream and a lane that are new in each test. */
export class LookupScene {
  readonly accountId = newId();
  stores!: PollingStores;
  upstream!: Upstream;
  /** The lookup of every operation. */
  lookup!: Lookup;
  lane!: Lane;
  worker!: { stop(): Promise<void> };

  async start(): Promise<void> {
    this.stores = await openPollingStores();
  }

  async stop(): Promise<void> {
    await this.worker?.stop();
    await this.stores?.drop();
  }

  /** Starts a worker, removes all reservations, and gives the account 1,000 credits. */
  async begin(): Promise<void> {
    this.upstream = new Upstream();
    this.lookup = async (_, { http }) => {
      await http.json({ url: 'https://upstream.example.org/thing' });
      return { kind: 'found', body: { things: ['a', 'b'] }, found: 2 };
    };
    await this.restart();
    await this.stores.database.query('DELETE FROM credit_reservations');
    await fundAccount(this.stores.database, this.accountId, 1_000);
  }

  /** Starts a worker on a new lane. */
  async restart(more: Partial<SourceConnector> = {}): Promise<void> {
    await this.worker?.stop();
    this.lane = this.laneOn(more);
    const { bus, database, store } = this.stores;
    const log = createLogger('spec', 'silent');
    const strategy = new NatsStrategy(bus, log);
    this.worker = new LookupWorker(strategy, database, store, log).open(this.lane);
  }

  readonly ask = (
    operation = 'tweets',
    timeoutMs = 60_000,
    commandId = newId(),
    accountId = this.accountId,
  ) => {
    const input = create(LookUpSchema, {
      commandId,
      accountId,
      source: 'x',
      operation,
      questionJson: '{"ids":["1","2","3"]}',
      deadline: new Date(Date.now() + timeoutMs).toISOString(),
    });
    return new CommandClient(this.stores.bus).request(lookupCommand('x'), input);
  };

  /** Returns the refusal of a lookup; undefined if the lookup was answered. */
  readonly refusalOf = (asking: Promise<unknown>) =>
    asking.then(
      () => undefined,
      ({ kind, code, message }: Refusal) => ({ kind, code, message }),
    );

  private laneOn(more: Partial<SourceConnector>): Lane {
    const lookup: Lookup = (...args) => this.lookup(...args);
    return new Lane({
      name: 'x:0',
      connector: { ...this.upstream.connector, id: 'x', lookups: { tweets: lookup, user: lookup }, ...more },
      baseUrl: undefined,
      http: this.upstream.http,
      lanes: 1,
      memory: NOTHING_LEARNED,
      remember: async () => {},
    });
  }
}
