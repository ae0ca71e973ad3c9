import { create, toBinary } from '@bufbuild/protobuf';
import { AccountDecisionSchema } from '#contracts';
import { keepUntilCharged, reserve, type ReservedStream } from '#credits';
import { isoOf, newId } from '#kernel';
import { subjectOf, type Bus } from '#messaging';
import { createLogger } from '#telemetry';
import { fundAccount, openSpecDatabase, until } from '#testing';
import { startBilling, type BillingUnderTest } from '../testing/billing-under-test.js';
import { ReservationsLoop } from './reservations.loop.js';

const log = createLogger('spec', 'silent');
let billing: BillingUnderTest;
let loop: ReservationsLoop;
beforeAll(async () => {
  billing = await startBilling();
  loop = new ReservationsLoop(billing.database, billing.bus, log);
});
afterAll(() => billing?.stop());

/** Creates a reservation for work that was finished an hour ago. */
async function reserveForFinishedWork(
  accountId: string,
  database = billing.database,
  stream: ReservedStream = 'CHECKS',
): Promise<string> {
  const reservationId = newId();
  await reserve(database, [{ reservationId, accountId, credits: 5, lifetimeSeconds: 60 }]);
  await keepUntilCharged(database, stream, [reservationId]);
  await database.query(
    `UPDATE credit_reservations SET done_at = now() - interval '1 hour' WHERE reservation_id = $1`,
    [reservationId],
  );
  return reservationId;
}

const reservedIds = async (database = billing.database) => {
  const rows: { reservation_id: string }[] = await database.query(
    'SELECT reservation_id FROM credit_reservations',
  );
  return rows.map((row) => row.reservation_id);
};

it('a reservation that no charge will settle is released after all stored facts are charged', async () => {
  const accountId = await billing.open();
  // The account of this fact has no ledger yet, so billing cannot charge the fact.
  const accountWithoutLedger = newId();
  await billing.check(accountWithoutLedger);
  await until('the check was delivered a second time', async () => {
    const { num_redelivered } = await billing.bus.jsm.consumers.info('CHECKS', 'billing-checks');
    return num_redelivered > 0;
  });
  const reservationId = await reserveForFinishedWork(accountId);
  for (let n = 0; n < 3; n += 1) await loop.pass();
  expect(await reservedIds()).toEqual([reservationId]);
  const commandId = newId();
  const value = { email: `${accountWithoutLedger}@example.org`, plan: 'free' };
  const decision = create(AccountDecisionSchema, {
    commandId,
    accountId: accountWithoutLedger,
    decidedAt: isoOf(Date.now()),
    events: [{ event: { case: 'accountOpened', value } }],
  });
  const data = toBinary(AccountDecisionSchema, decision);
  await billing.store.append(subjectOf('ACCOUNTS', accountWithoutLedger), data, 0, commandId);
  await billing.balanceWhere(
    'the fact is charged',
    accountWithoutLedger,
    ({ remaining }) => remaining === 2998,
  );
  await until('the reservation is released', async () => {
    await loop.pass();
    return (await reservedIds()).length === 0;
  });
});

it('a reservation that no charge will settle is released even if facts were purged from the stream', async () => {
  const accountId = await billing.open();
  const { watchId } = await billing.check(accountId);
  await billing.balanceWhere('the fact is charged', accountId, ({ remaining }) => remaining === 2998);
  await billing.bus.jsm.streams.purge('CHECKS', { filter: subjectOf('CHECKS', accountId, watchId) });
  await reserveForFinishedWork(accountId);
  await until('the reservation is released', async () => {
    await loop.pass();
    return (await reservedIds()).length === 0;
  });
});

it('a reservation is kept if its work was finished only a moment ago', async () => {
  const accountId = await billing.open();
  const reservationId = newId();
  await reserve(billing.database, [{ reservationId, accountId, credits: 5, lifetimeSeconds: 60 }]);
  await keepUntilCharged(billing.database, 'CHECKS', [reservationId]);
  for (let n = 0; n < 3; n += 1) await loop.pass();
  expect(await reservedIds()).toEqual([reservationId]);
});

it.each([
  ['while a fact of a stream cannot be charged', 4],
  ['while a stream cannot be read', 'an error'],
] as const)(
  '%s, the loop keeps only the reservations of this stream and those without a stream',
  async (_, state) => {
    // Separate from `billing`, whose service also runs this loop.
    const spec = await openSpecDatabase();
    const { database } = spec;
    let explored: number | 'an error' = state;
    const positionOf = (stream: string) => {
      if (stream !== 'EXPLORES') return 5;
      if (explored === 'an error') throw new Error('no leader');
      return explored;
    };
    const jsm = {
      streams: { info: async () => ({ state: { last_seq: 5 } }) },
      consumers: {
        info: async (stream: string) => ({
          ack_floor: { stream_seq: positionOf(stream) },
          num_pending: 0,
          num_ack_pending: 5 - positionOf(stream),
        }),
      },
    };
    const accountId = newId();
    await fundAccount(database, accountId, 100);
    const names = new Map<string, string>();
    for (const stream of ['CHECKS', 'LOOKUPS', 'EXPLORES'] as const)
      names.set(await reserveForFinishedWork(accountId, database, stream), stream);
    const ofEarlierRelease = await reserveForFinishedWork(accountId, database);
    names.set(ofEarlierRelease, 'none');
    await database.query('UPDATE credit_reservations SET stream = NULL WHERE reservation_id = $1', [
      ofEarlierRelease,
    ]);
    const reservedFor = async () => (await reservedIds(database)).map((id) => names.get(id)).sort();
    const separate = new ReservationsLoop(database, { jsm } as unknown as Bus, log);
    for (let n = 0; n < 3; n += 1) {
      const [pass] = await Promise.allSettled([separate.pass()]);
      expect(pass.status).toBe(n > 0 && state === 'an error' ? 'rejected' : 'fulfilled');
    }
    expect(await reservedFor()).toEqual(['EXPLORES', 'none']);
    explored = 5;
    await separate.pass();
    expect(await reservedFor()).toEqual([]);
    await spec.drop();
  },
);
