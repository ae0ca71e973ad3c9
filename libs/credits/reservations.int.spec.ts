import fc from 'fast-check';
import { chargeIdOf, newId } from '#kernel';
import { openDatabase, type Database } from '#postgres';
import { fundAccount, isolateStores, type IsolatedStores } from '#testing';
import { balanceOf } from './balance.js';
import {
  dropExpired,
  dropNeverCharged,
  keepAdopted,
  keepUntilCharged,
  extendReservations,
  release,
  releaseCharged,
  reserve,
  useUp,
  type Reservation,
  type OwnReservation,
} from './reservations.js';

let stores: IsolatedStores;
let database: Database;
let accountId: string;

beforeAll(async () => {
  stores = await isolateStores();
  database = await openDatabase(stores.databaseUrl, 'spec', 8);
});
afterAll(async () => {
  await database?.destroy();
  await stores?.drop();
});
beforeEach(async () => {
  accountId = newId();
  await fundAccount(database, accountId, 10);
});

const reservation = (credits: number, more: Partial<Reservation> = {}): Reservation & OwnReservation => ({
  reservationId: newId(),
  accountId,
  credits,
  lifetimeSeconds: 60,
  ...more,
  holder: more.holder ?? newId(),
});

async function reserved(account = accountId): Promise<number> {
  return (await balanceOf(database, account))?.reserved ?? -1;
}

/** Charges a fact as billing does: locks the balance's row and settles the fact's reservation. */
async function charge(account: string, reservationId: string, credits: number): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query('UPDATE credit_balances SET balance = balance - $2 WHERE account_id = $1', [
      account,
      credits,
    ]);
    await useUp(tx, [reservationId]);
  });
}

describe('reserving credits', () => {
  it('reserves each amount that the balance still covers, and reports the others as shortages', async () => {
    const [first, second, third] = [reservation(6), reservation(5), reservation(4)];
    const { shortages } = await reserve(database, [first, second, third]);
    expect([...shortages]).toEqual([[second.reservationId, { needed: 5, available: 4 }]]);
    expect(await reserved()).toBe(10);
    expect([...(await reserve(database, [reservation(1)])).shortages.values()]).toEqual([
      { needed: 1, available: 0 },
    ]);
  });

  it('keeps one reservation for a fact: a second call changes the amount and extends the reservation', async () => {
    const one = reservation(6, { lifetimeSeconds: 1 });
    await reserve(database, [one]);
    expect((await reserve(database, [{ ...one, credits: 10, lifetimeSeconds: 600 }])).shortages.size).toBe(0);
    expect(await reserved()).toBe(10);
    const rows: { seconds: number }[] = await database.query(
      'SELECT extract(epoch FROM expires_at - now())::int AS seconds FROM credit_reservations WHERE reservation_id = $1',
      [one.reservationId],
    );
    expect(rows[0]?.seconds).toBeGreaterThan(500);
  });

  it('reports a reservation of an account without a ledger, but no shortage for zero credits', async () => {
    const accountWithoutLedger = newId();
    expect(
      (await reserve(database, [reservation(0, { accountId: accountWithoutLedger })])).shortages.size,
    ).toBe(0);
    const wanted = reservation(1, { accountId: accountWithoutLedger });
    const tooLarge = reservation(11);
    expect(await reserve(database, [wanted, tooLarge])).toEqual({
      shortages: new Map([[tooLarge.reservationId, { needed: 11, available: 10 }]]),
      unopened: new Set([wanted.reservationId]),
    });
  });

  it('makes credits available again when their reservation is released or has expired', async () => {
    const released = reservation(10);
    await reserve(database, [released]);
    await release(database, [released]);
    const expired = reservation(10, { lifetimeSeconds: 60 });
    expect((await reserve(database, [expired])).shortages.size).toBe(0);
    await database.query(`UPDATE credit_reservations SET expires_at = now() - interval '1 second'`);
    expect((await reserve(database, [reservation(10)])).shortages.size).toBe(0);
    await dropExpired(database);
    const rows: unknown[] = await database.query(
      'SELECT 1 FROM credit_reservations WHERE reservation_id = $1',
      [expired.reservationId],
    );
    expect(rows).toEqual([]);
  });

  it('lets only the latest holder release a reservation', async () => {
    const before = reservation(4);
    const now = { ...before, holder: newId() };
    await reserve(database, [before]);
    await reserve(database, [now]);
    await release(database, [before]);
    expect(await reserved()).toBe(4);
    await release(database, [now]);
    expect(await reserved()).toBe(0);
  });

  it('extends a reservation only for its present holder, and only before the reservation expires', async () => {
    const [own, taken, expired] = [reservation(1), reservation(2), reservation(4)];
    await reserve(database, [own, taken, expired]);
    await reserve(database, [{ ...taken, holder: newId() }]);
    await database.query(
      `UPDATE credit_reservations SET expires_at = now() - interval '1 minute' WHERE reservation_id = $1`,
      [expired.reservationId],
    );
    await extendReservations(database, [own, taken, expired], 3_600);
    const rows: { reservation_id: string }[] = await database.query(
      `SELECT reservation_id FROM credit_reservations WHERE account_id = $1 AND expires_at > now() + interval '30 minutes'`,
      [accountId],
    );
    expect(rows).toEqual([{ reservation_id: own.reservationId }]);
  });

  it('releases a reservation if its fact is already charged', async () => {
    const [uncharged, charged] = [reservation(3), reservation(4)];
    await reserve(database, [uncharged, charged]);
    await database.query(
      `INSERT INTO credit_movements (movement_id, account_id, seq, place, at, fact_at, kind, amount, balance_after,
         reference) VALUES ($1, $2, 1, 0, now(), now(), 'charge', -4, 6, $3)`,
      [chargeIdOf(charged.reservationId), accountId, charged.reservationId],
    );
    await releaseCharged(database, [uncharged.reservationId, charged.reservationId]);
    expect(await reserved()).toBe(3);
  });

  it('keeps the reservation of finished work until its charge [credits.never-negative]', async () => {
    const [done, open] = [reservation(4), reservation(3)];
    await reserve(database, [done, open]);
    await keepUntilCharged(database, 'CHECKS', [done.reservationId]);
    await database.query(`UPDATE credit_reservations SET expires_at = LEAST(expires_at, now() + interval '1 hour')
      WHERE done_at IS NULL`);
    // A repetition of the same work asks for fewer credits, and releases its unused credits.
    await reserve(database, [{ ...done, credits: 1 }]);
    await release(database, [done, open]);
    await database.query(
      `UPDATE credit_reservations SET expires_at = now() - interval '1 second' WHERE expires_at < 'infinity'`,
    );
    await dropExpired(database);
    expect(await reserved()).toBe(4);
    await charge(accountId, done.reservationId, 4);
    expect(await reserved()).toBe(0);
  });

  it('keeps the whole reservation of finished work, even if the work is repeated for fewer credits [credits.never-negative]', async () => {
    const [done, other] = [reservation(4), reservation(9)];
    await reserve(database, [done]);
    await keepUntilCharged(database, 'CHECKS', [done.reservationId]);
    const { shortages } = await reserve(database, [{ ...done, credits: 1 }, other]);
    expect([...shortages]).toEqual([[other.reservationId, { needed: 9, available: 6 }]]);
    expect(await reserved()).toBe(4);
  });

  it('reserves again for stored work that has lost its reservation, but not for charged work', async () => {
    const [known, lost, paid] = [reservation(1), reservation(2), reservation(4)];
    await reserve(database, [known, paid]);
    await database.query(
      `INSERT INTO credit_movements (movement_id, account_id, seq, place, at, fact_at, kind, amount, balance_after,
         reference) VALUES ($1, $2, 1, 0, now(), now(), 'charge', -4, 6, $3)`,
      [chargeIdOf(paid.reservationId), accountId, paid.reservationId],
    );
    await database.transaction((tx) => keepAdopted(tx, 'CHECKS', [paid, lost, known]));
    await release(database, [known, lost]);
    expect(await reserved()).toBe(3);
  });

  it('drops only reservations of one stream whose work ended before the given time and was never charged', async () => {
    const [old, young, running] = [reservation(1), reservation(2), reservation(4)];
    const [adopted, explored] = [reservation(8), reservation(16)];
    await fundAccount(database, accountId, 100);
    await reserve(database, [old, young, running, explored]);
    await keepUntilCharged(database, 'CHECKS', [old.reservationId, young.reservationId]);
    await database.transaction((tx) => keepAdopted(tx, 'CHECKS', [adopted]));
    await keepUntilCharged(database, 'EXPLORES', [explored.reservationId]);
    await database.query(
      `UPDATE credit_reservations SET done_at = now() - interval '1 hour' WHERE reservation_id = ANY($1)`,
      [[old, adopted, explored].map(({ reservationId }) => reservationId)],
    );
    await dropNeverCharged(database, 'CHECKS', new Date(Date.now() - 1_800_000));
    expect(await reserved()).toBe(2 + 4 + 16);
  });

  it('takes nothing from another account', async () => {
    const other = newId();
    await fundAccount(database, other, 3);
    const { shortages } = await reserve(database, [reservation(10), reservation(3, { accountId: other })]);
    expect([shortages.size, await reserved(), await reserved(other)]).toEqual([0, 10, 3]);
  });

  it('never reserves more than the balance, with concurrent reservations, charges and releases', async () => {
    const step = fc.record({
      account: fc.nat(1),
      credits: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 }),
      // What happens to each reservation: it is charged in full, released, or left until it expires.
      then: fc.constantFrom('charge', 'release', 'die'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 10 }), async (steps) => {
        const accounts = [newId(), newId()];
        for (const id of accounts) await fundAccount(database, id, 12);
        const spent = [0, 0];
        const run = async ({ account, credits, then }: (typeof steps)[number]) => {
          const id = accounts[account] ?? '';
          const reservations = credits.map((amount) => reservation(amount, { accountId: id }));
          const { shortages } = await reserve(database, reservations);
          for (const one of reservations.filter(({ reservationId }) => !shortages.has(reservationId)))
            if (then === 'release') await release(database, [one]);
            else if (then === 'charge') {
              // The statement fails if the balance would fall below zero.
              await charge(id, one.reservationId, one.credits);
              spent[account] = (spent[account] ?? 0) + one.credits;
            }
        };
        let racing = true;
        const watching = (async () => {
          while (racing)
            for (const id of accounts) {
              const balance = await balanceOf(database, id);
              expect(balance?.reserved).toBeLessThanOrEqual(balance?.remaining ?? -1);
            }
        })();
        await Promise.all(steps.map(run)).finally(() => (racing = false));
        await watching;
        for (const [n, id] of accounts.entries())
          expect((await balanceOf(database, id))?.remaining).toBe(12 - (spent[n] ?? 0));
      }),
      { numRuns: 60 },
    );
  });
});
