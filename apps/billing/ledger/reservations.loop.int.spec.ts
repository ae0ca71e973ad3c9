import { create, toBinary } from '@bufbuild/protobuf';
import { AccountDecisionSchema } from '#contracts';
import { holdUntilCharged, reserve } from '#credits';
import { isoOf, newId } from '#kernel';
import { subjectOf } from '#messaging';
import { createLogger } from '#telemetry';
import { until } from '#testing';
import { startBilling, type BillingUnderTest } from '../testing/billing-under-test.js';
import { ReservationsLoop } from './reservations.loop.js';

let billing: BillingUnderTest;
let loop: ReservationsLoop;
beforeAll(async () => {
  billing = await startBilling();
  loop = new ReservationsLoop(billing.database, billing.bus, createLogger('spec', 'silent'));
});
afterAll(() => billing?.stop());

/** A reservation for work that was finished an hour ago. */
async function doneLongAgo(accountId: string): Promise<string> {
  const holdId = newId();
  await reserve(billing.database, [{ holdId, accountId, credits: 5, lifetimeSeconds: 60 }]);
  await holdUntilCharged(billing.database, [holdId]);
  await billing.database.query(
    `UPDATE credit_holds SET done_at = now() - interval '1 hour' WHERE hold_id = $1`,
    [holdId],
  );
  return holdId;
}

const held = async () => {
  const rows: { hold_id: string }[] = await billing.database.query('SELECT hold_id FROM credit_holds');
  return rows.map((row) => row.hold_id);
};

it('a reservation that no charge will use is released as soon as all stored facts are charged', async () => {
  const accountId = await billing.open();
  // The account of this fact has no ledger yet, so billing cannot charge the fact.
  const late = newId();
  await billing.check(late);
  await until('it was delivered and put back', async () => {
    const { num_redelivered } = await billing.bus.jsm.consumers.info('CHECKS', 'billing-checks');
    return num_redelivered > 0;
  });
  const holdId = await doneLongAgo(accountId);
  for (let n = 0; n < 3; n += 1) await loop.pass();
  expect(await held()).toEqual([holdId]);
  const commandId = newId();
  const value = { email: `${late}@example.org`, plan: 'free' };
  const decision = create(AccountDecisionSchema, {
    commandId,
    accountId: late,
    decidedAt: isoOf(Date.now()),
    events: [{ event: { case: 'accountOpened', value } }],
  });
  const data = toBinary(AccountDecisionSchema, decision);
  await billing.store.append(subjectOf('ACCOUNTS', late), data, 0, commandId);
  await billing.balanceWhere('the fact is charged', late, ({ remaining }) => remaining === 2998);
  await until('the reservation is released', async () => {
    await loop.pass();
    return (await held()).length === 0;
  });
});

it('a reservation is also released when its fact was purged before the charge', async () => {
  const accountId = await billing.open();
  const { watchId } = await billing.check(accountId);
  await billing.balanceWhere('the fact is charged', accountId, ({ remaining }) => remaining === 2998);
  await billing.bus.jsm.streams.purge('CHECKS', { filter: subjectOf('CHECKS', accountId, watchId) });
  await doneLongAgo(accountId);
  await until('the reservation is released', async () => {
    await loop.pass();
    return (await held()).length === 0;
  });
});

it('a reservation is kept if its work was finished only a moment ago', async () => {
  const accountId = await billing.open();
  const holdId = newId();
  await reserve(billing.database, [{ holdId, accountId, credits: 5, lifetimeSeconds: 60 }]);
  await holdUntilCharged(billing.database, [holdId]);
  for (let n = 0; n < 3; n += 1) await loop.pass();
  expect(await held()).toEqual([holdId]);
});
