import { fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { CreditDecisionSchema, type CreditDecision } from '#contracts';
import { balanceOf } from '#credits';
import { EventStore } from '#event-store';
import { newId, type Clock } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { isolateStores } from '#testing';
import type { ChargeCause } from '../../domain/ledger.js';
import { LedgerWriter, type AccountCommand } from '../ledger-writer.js';

// For specs only: ledgers in real stores, with a clock whose time the spec sets.

/** The stores of ledgers. */
export interface LedgerStores {
  database: Database;
  bus: Bus;
  store: EventStore;
  writer: LedgerWriter;
  clock: Clock & { at: string };
  /** Returns a second writer, like the writer of another replica. A spec can make the appends of this writer fail. */
  anotherWriter(store?: EventStore): LedgerWriter;
  /** Opens a ledger on the free plan, which has 3,000 credits a month. */
  open(): Promise<string>;
  /** Returns the remaining credits in the tables. */
  creditsOf(accountId: string): Promise<number | undefined>;
  /** Returns the decisions in CREDITS, oldest first. */
  decisionsOf(accountId: string): Promise<CreditDecision[]>;
  /** Returns the messages as a consumer of CREDITS receives them, oldest first. */
  messagesOf(accountId: string): Promise<JsMsg[]>;
  /** Returns the movements in the tables, oldest first. */
  movementsOf(accountId: string): Promise<MovementRow[]>;
  drop(): Promise<void>;
}

/** A row of `credit_movements`. */
export interface MovementRow {
  kind: string;
  amount: number;
  balance_after: number;
  reference: string;
}

/** The initial time of the clock. */
export const OPENED_AT = '2026-01-31T12:00:00.000Z';

/** Creates the stores without ledgers. */
export async function openLedgerStores(): Promise<LedgerStores> {
  const stores = await isolateStores();
  const database = await openDatabase(stores.databaseUrl, 'spec');
  const bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  const store = new EventStore(bus);
  const clock = { at: OPENED_AT, now: () => new Date(clock.at) };
  const anotherWriter = (of = store) => new LedgerWriter(database, of, clock);
  const writer = anotherWriter();
  return {
    database,
    bus,
    store,
    writer,
    clock,
    anotherWriter,
    async open() {
      const accountId = newId();
      await writer.write([{ accountId, command: { kind: 'open', plan: 'free', at: clock.at } }]);
      return accountId;
    },
    creditsOf: async (accountId) => (await balanceOf(database, accountId))?.remaining,
    async decisionsOf(accountId) {
      const stored = await store.read('CREDITS', subjectOf('CREDITS', accountId));
      return stored.map(({ data }) => fromBinary(CreditDecisionSchema, data));
    },
    async messagesOf(accountId) {
      const found: JsMsg[] = [];
      const consumer = await bus.js.consumers.get('CREDITS', { filter_subjects: `credits.${accountId}` });
      const waiting = (await consumer.info()).num_pending;
      for await (const message of await consumer.fetch({ max_messages: waiting })) found.push(message);
      return found;
    },
    movementsOf: (accountId) =>
      database.query(
        `SELECT kind, amount, balance_after, reference FROM credit_movements
         WHERE account_id = $1 ORDER BY seq, place`,
        [accountId],
      ),
    async drop() {
      await bus.close();
      await database.destroy();
      await stores.drop();
    },
  };
}

/** Returns the charge of a check. */
export function chargeOf(accountId: string, more: Partial<ChargeCause> = {}): AccountCommand {
  const reference = more.reference ?? newId();
  return {
    accountId,
    command: {
      kind: 'charge',
      operation: 'check',
      source: 'hackernews',
      keywordId: '',
      watchId: newId(),
      checkId: reference,
      reference,
      at: OPENED_AT,
      costCredits: 1,
      rateCredits: 1,
      units: 1,
      priceBookVersion: '2026-11-20',
      ...more,
    },
  };
}

/** Returns a grant of credits. By default, the credits do not expire. */
export function grantOf(
  accountId: string,
  credits: number,
  expiresAt = '',
  packId = newId(),
): AccountCommand {
  return { accountId, command: { kind: 'grant', packId, credits, expiresAt, note: '' } };
}
