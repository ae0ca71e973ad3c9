import { create, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { CheckSchema, type Check } from '#contracts';
import { balanceOf, type Balance } from '#credits';
import { EventStore } from '#event-store';
import { newId, type Clock } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { startService, type RunningService } from '#platform';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { isolateStores, openAccount, programEnv, until } from '#testing';
import { billingService } from '../billing.module.js';
import { readBillingConfig } from '../config.js';

// For specs only: the billing service in this process, with a clock whose time the spec sets.

/** A running billing service with separate stores. */
export interface BillingUnderTest {
  bus: Bus;
  store: EventStore;
  database: Database;
  /** `aheadMs`: how far this clock is ahead of the machine's clock, in ms. */
  clock: Clock & { aheadMs: number };
  /** Opens an account. @returns the id of the account */
  open(plan?: string): Promise<string>;
  /** Publishes a check without items, as polling does. */
  check(accountId: string, more?: MessageInitShape<typeof CheckSchema>): Promise<Check>;
  /** Waits until the account's balance meets the condition. */
  balanceWhere(what: string, accountId: string, is: (balance: Balance) => boolean): Promise<Balance>;
  stop(): Promise<void>;
}

/** Starts billing with separate stores. */
export async function startBilling(): Promise<BillingUnderTest> {
  const stores = await isolateStores();
  const config = readBillingConfig(programEnv(stores, { LOG_LEVEL: 'silent' }));
  const clock = { aheadMs: 0, now: () => new Date(Date.now() + clock.aheadMs) };
  const service: RunningService = await startService(billingService(config, clock), config, false);
  const database = await openDatabase(stores.databaseUrl, 'spec');
  const bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  const store = new EventStore(bus);
  return {
    bus,
    store,
    database,
    clock,
    open: async (plan = 'free') => (await openAccount(stores.natsUrl, plan)).accountId,
    async check(accountId, more = {}) {
      const check = create(CheckSchema, {
        checkId: newId(),
        accountId,
        watchId: newId(),
        source: 'reddit',
        finishedAt: new Date().toISOString(),
        part: 1,
        parts: 1,
        costCredits: 2,
        rateCredits: 2,
        units: 1,
        priceBookVersion: '2026-11-20',
        ...more,
      });
      await store.publish(
        subjectOf('CHECKS', accountId, check.watchId),
        toBinary(CheckSchema, check),
        newId(),
      );
      return check;
    },
    balanceWhere: (what, accountId, is) =>
      until(what, async () => {
        const balance = await balanceOf(database, accountId);
        return balance && is(balance) && balance;
      }),
    async stop() {
      await service.stop();
      await bus.close();
      await database.destroy();
      await stores.drop();
    },
  };
}
