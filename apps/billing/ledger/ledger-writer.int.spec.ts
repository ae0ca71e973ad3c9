import type { JsMsg } from '@nats-io/jetstream';
import { balanceOf, reserve } from '#credits';
import { AppendConflict, EventStore } from '#event-store';
import { newId } from '#kernel';
import { done, retry, runDurable } from '#messaging';
import { createLogger } from '#telemetry';
import { until } from '#testing';
import { CREDITS, CreditsHandler } from '../handlers/credits.handler.js';
import {
  chargeOf,
  grantOf,
  OPENED_AT,
  openLedgerStores,
  type LedgerStores,
} from './testing/ledger-under-test.js';

let stores: LedgerStores;
beforeAll(async () => {
  stores = await openLedgerStores();
});
afterAll(() => stores?.drop());
beforeEach(() => {
  stores.clock.at = OPENED_AT;
});

/** Appends and then fails, as if the process died after the append and before it wrote the tables. */
class FailingStore extends EventStore {
  override async append(...given: Parameters<EventStore['append']>): Promise<number> {
    await super.append(...given);
    throw new Error('killed');
  }
}

const expectCrash = async (work: Promise<unknown>) => expect(work).rejects.toThrow('killed');

describe('a ledger', () => {
  it('opens only once, with the allowance of the plan', async () => {
    const accountId = await stores.open();
    await stores.writer.write([{ accountId, command: { kind: 'open', plan: 'pro', at: OPENED_AT } }]);
    expect(await balanceOf(stores.database, accountId)).toEqual({
      plan: 'free',
      periodStart: new Date(OPENED_AT),
      periodEnd: new Date('2026-02-28T12:00:00.000Z'),
      monthlyAllowance: 3000,
      allowanceRemaining: 3000,
      packs: [],
      remaining: 3000,
      reserved: 0,
    });
  });

  it('opens only once if two replicas open it at the same time', async () => {
    const accountId = newId();
    const open = { accountId, command: { kind: 'open', plan: 'free', at: OPENED_AT } as const };
    await Promise.all([stores.writer.write([open]), stores.anotherWriter().write([open])]);
    expect((await stores.decisionsOf(accountId)).length).toBe(1);
    expect(await stores.creditsOf(accountId)).toBe(3000);
  });

  it('is not charged before it is open, and the charges of other accounts do not wait for this ledger', async () => {
    const [accountId, notOpen] = [await stores.open(), newId()];
    const ledgers = await stores.writer.write([chargeOf(notOpen), chargeOf(accountId)]);
    expect([...ledgers.keys()]).toEqual([accountId]);
    expect(await stores.decisionsOf(notOpen)).toEqual([]);
    expect(await stores.creditsOf(accountId)).toBe(2999);
  });

  it('stores one message for the 1,000 charges of one batch', async () => {
    const accountId = await stores.open();
    await stores.writer.write(Array.from({ length: 1000 }, () => chargeOf(accountId, { costCredits: 2 })));
    expect((await stores.decisionsOf(accountId)).map(({ movements }) => movements.length)).toEqual([1, 1000]);
    expect(await stores.creditsOf(accountId)).toBe(1000);
  });

  it('is charged only once for a cause: within a batch, over several batches, and by two concurrent writers [credits.charged-once]', async () => {
    const accountId = await stores.open();
    const charges = Array.from({ length: 20 }, () => chargeOf(accountId));
    const another = stores.anotherWriter();
    await Promise.all([
      stores.writer.write([...charges, ...charges]),
      another.write([...charges].reverse()),
      another.write(charges.slice(5)),
    ]);
    await stores.writer.write(charges);
    expect(await stores.creditsOf(accountId)).toBe(2980);
    expect((await stores.movementsOf(accountId)).length).toBe(21);
  });

  it('accepts different charges of two concurrent writers', async () => {
    const accountId = await stores.open();
    const writers = [stores.writer, stores.anotherWriter()];
    await Promise.all(Array.from({ length: 40 }, (_, n) => writers[n % 2]?.write([chargeOf(accountId)])));
    expect(await stores.creditsOf(accountId)).toBe(2960);
    const balances = (await stores.movementsOf(accountId)).map((row) => row.balance_after);
    expect(balances).toEqual(Array.from({ length: 41 }, (_, n) => 3000 - n));
  });

  it('never goes below zero: a charge that is too large takes the credits that are left, and later charges take none [credits.never-negative]', async () => {
    const [poor, rich] = [await stores.open(), await stores.open()];
    await stores.writer.write([
      chargeOf(poor, { costCredits: 2_990 }),
      chargeOf(poor, { costCredits: 15 }),
      chargeOf(rich, { costCredits: 15 }),
      chargeOf(poor, { costCredits: 5 }),
    ]);
    const movements = await stores.movementsOf(poor);
    expect(movements.map((row) => [row.amount, row.balance_after])).toEqual([
      [3000, 3000],
      [-2990, 10],
      [-10, 0],
      [0, 0],
    ]);
    expect(await stores.creditsOf(rich)).toBe(2985);
  });

  it('settles the reservation of the charged work, and no other reservation', async () => {
    const accountId = await stores.open();
    const [done, underWay] = [newId(), newId()];
    const reservation = (reservationId: string) => ({
      reservationId,
      accountId,
      credits: 5,
      lifetimeSeconds: 60,
    });
    await reserve(stores.database, [reservation(done), reservation(underWay)]);
    await stores.writer.write([chargeOf(accountId, { reference: done, costCredits: 3 })]);
    expect(await balanceOf(stores.database, accountId)).toMatchObject({ remaining: 2997, reserved: 5 });
  });

  it('keeps its packs in the order in which they are spent, even if another writer writes the next charge [credits.packs-by-expiry]', async () => {
    const accountId = await stores.open();
    const [late, soon, never] = [newId(), newId(), newId()];
    await stores.writer.write([
      grantOf(accountId, 10, '', never),
      grantOf(accountId, 20, '2026-02-10T00:00:00.000Z', late),
      grantOf(accountId, 30, '2026-02-05T00:00:00.000Z', soon),
    ]);
    await stores.anotherWriter().write([chargeOf(accountId, { costCredits: 3035 })]);
    expect((await balanceOf(stores.database, accountId))?.packs).toEqual([
      { id: late, granted: 20, remaining: 15, expiresAt: '2026-02-10T00:00:00.000Z' },
      { id: never, granted: 10, remaining: 10, expiresAt: null },
    ]);
  });
});

describe('after a crash between stream and tables', () => {
  it('the next charge first updates the tables, and a repeated charge is not applied again', async () => {
    const accountId = await stores.open();
    const [lost, next] = [chargeOf(accountId), chargeOf(accountId)];
    await expectCrash(stores.anotherWriter(new FailingStore(stores.bus)).write([lost]));
    expect(await stores.creditsOf(accountId)).toBe(3000);
    await stores.writer.write([next, lost]);
    expect(await stores.creditsOf(accountId)).toBe(2998);
    expect((await stores.movementsOf(accountId)).length).toBe(3);
    expect((await stores.decisionsOf(accountId)).length).toBe(3);
  });

  it('a repeated charge finds the stored message and adds nothing', async () => {
    const accountId = await stores.open();
    const lost = chargeOf(accountId);
    await expectCrash(stores.anotherWriter(new FailingStore(stores.bus)).write([lost]));
    await stores.writer.write([lost]);
    expect([await stores.creditsOf(accountId), (await stores.decisionsOf(accountId)).length]).toEqual([
      2999, 2,
    ]);
  });

  it('a repeated opening finds the stored opening', async () => {
    const accountId = newId();
    const open = { accountId, command: { kind: 'open', plan: 'free', at: OPENED_AT } as const };
    await expectCrash(stores.anotherWriter(new FailingStore(stores.bus)).write([open]));
    expect(await stores.creditsOf(accountId)).toBeUndefined();
    await stores.writer.write([open]);
    expect([await stores.creditsOf(accountId), (await stores.decisionsOf(accountId)).length]).toEqual([
      3000, 1,
    ]);
  });

  it('the consumer of the stream brings the tables up to date', async () => {
    const [accountId, notOpen] = [await stores.open(), newId()];
    const failingWriter = stores.anotherWriter(new FailingStore(stores.bus));
    await expectCrash(
      failingWriter.write([{ accountId: notOpen, command: { kind: 'open', plan: 'solo', at: OPENED_AT } }]),
    );
    await expectCrash(failingWriter.write([chargeOf(accountId, { costCredits: 7 })]));
    const handler = new CreditsHandler(stores.database);
    const durable = { ...CREDITS, handle: (batch: readonly JsMsg[]) => handler.apply(batch) };
    const consumer = await runDurable(stores.bus, durable, createLogger('spec', 'silent'));
    try {
      await until('the tables are up to date', async () => (await stores.creditsOf(notOpen)) === 60_000);
      await until('the charge is stored', async () => (await stores.creditsOf(accountId)) === 2993);
    } finally {
      await consumer.stop();
    }
    await stores.writer.write([chargeOf(accountId)]);
    expect(await stores.creditsOf(accountId)).toBe(2992);
  });

  it('a message that arrives before its predecessor is retried until the predecessor has arrived', async () => {
    const accountId = await stores.open();
    const failingWriter = stores.anotherWriter(new FailingStore(stores.bus));
    await expectCrash(failingWriter.write([chargeOf(accountId)]));
    await expectCrash(failingWriter.write([chargeOf(accountId, { costCredits: 10 })]));
    const [, first, second] = await stores.messagesOf(accountId);
    if (!first || !second) throw new Error('the messages are not stored');
    const handler = new CreditsHandler(stores.database);
    expect(await handler.apply([second])).toEqual([retry(200)]);
    expect(await stores.creditsOf(accountId)).toBe(3000);
    expect(await handler.apply([second, first])).toEqual([done, done]);
    expect(await handler.apply([first])).toEqual([done]);
    expect(await stores.creditsOf(accountId)).toBe(2989);
  });

  it('the writer reports an error if the stream has lost messages that the tables contain', async () => {
    const accountId = await stores.open();
    await stores.bus.jsm.streams.purge('CREDITS', { filter: `credits.${accountId}` });
    await expect(stores.writer.write([chargeOf(accountId)])).rejects.toThrow(
      /not at the position that the tables contain/,
    );
    await expect(stores.writer.write([chargeOf(accountId)])).rejects.not.toThrow(AppendConflict);
  });
});
