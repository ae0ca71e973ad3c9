import { create, toBinary } from '@bufbuild/protobuf';
import { AccountDecisionSchema, GrantCreditsSchema } from '#contracts';
import { reserve } from '#credits';
import { isoOf, newId } from '#kernel';
import { COMMANDS, subjectOf } from '#messaging';
import { until } from '#testing';
import { CommandClient } from '#transport';
import { startBilling, type BillingUnderTest } from './testing/billing-under-test.js';

let billing: BillingUnderTest;
beforeAll(async () => {
  billing = await startBilling();
});
afterAll(() => billing?.stop());
afterEach(() => {
  billing.clock.aheadMs = 0;
});

const DAY_MS = 86_400_000;

describe('charging facts', () => {
  it('waits until the account is open, then charges the facts of the account', async () => {
    const accountId = newId();
    await billing.check(accountId, { costCredits: 7 });
    await until('the check was delivered a second time', async () => {
      const { num_redelivered } = await billing.bus.jsm.consumers.info('CHECKS', 'billing-checks');
      return num_redelivered > 0;
    });
    // The spec stores the state that exists when a process has opened the account and died before it opened the ledger.
    const commandId = newId();
    const decision = create(AccountDecisionSchema, {
      commandId,
      accountId,
      decidedAt: isoOf(Date.now()),
      events: [
        { event: { case: 'accountOpened', value: { email: `${accountId}@example.org`, plan: 'free' } } },
      ],
    });
    const data = toBinary(AccountDecisionSchema, decision);
    await billing.store.append(subjectOf('ACCOUNTS', accountId), data, 0, commandId);
    await billing.balanceWhere('the check is charged', accountId, ({ remaining }) => remaining === 2993);
  });

  it('charges a fact only once if the fact is delivered twice', async () => {
    const accountId = await billing.open();
    const { checkId, watchId } = await billing.check(accountId);
    await billing.check(accountId, { checkId, watchId });
    await billing.check(accountId, { costCredits: 100 });
    await billing.balanceWhere('the last fact is charged', accountId, ({ remaining }) => remaining <= 2900);
    await until('all facts are processed', async () => {
      const info = await billing.bus.jsm.consumers.info('CHECKS', 'billing-checks');
      return info.num_pending + info.num_ack_pending === 0;
    });
    await billing.balanceWhere('the sum is correct', accountId, ({ remaining }) => remaining === 2898);
  });
});

describe('changes of plan', () => {
  it('are applied to the ledger later, in their order, if a process died before it applied them', async () => {
    const accountId = await billing.open('free');
    const change = async (plan: string) => {
      const commandId = newId();
      const subject = subjectOf('ACCOUNTS', accountId);
      const event = { event: { case: 'planChanged', value: { plan } } } as const;
      const decision = create(AccountDecisionSchema, {
        commandId,
        accountId,
        decidedAt: isoOf(Date.now()),
        events: [event],
      });
      const seq = await billing.store.lastSeq('ACCOUNTS', subject);
      await billing.store.append(subject, toBinary(AccountDecisionSchema, decision), seq, commandId);
    };
    await change('pro');
    await change('solo');
    const balance = await billing.balanceWhere(
      'both changes are applied',
      accountId,
      ({ plan }) => plan === 'solo',
    );
    expect([balance.remaining, balance.monthlyAllowance]).toEqual([60_000, 60_000]);
  });
});

describe('billing', () => {
  it('renews the allowance at the end of the period, and removes an expired pack', async () => {
    const accountId = await billing.open();
    const expiresAt = isoOf(Date.now() + 2 * DAY_MS);
    await new CommandClient(billing.bus).request(
      COMMANDS.grantCredits,
      create(GrantCreditsSchema, { commandId: newId(), accountId, amount: 50, expiresAt }),
    );
    await billing.check(accountId, { costCredits: 1000 });
    const before = await billing.balanceWhere(
      'the check is charged',
      accountId,
      ({ remaining }) => remaining === 2050,
    );
    billing.clock.aheadMs = 3 * DAY_MS;
    await billing.balanceWhere(
      'the pack is removed',
      accountId,
      ({ remaining, packs }) => remaining === 2000 && !packs[0],
    );
    billing.clock.aheadMs = 32 * DAY_MS;
    const after = await billing.balanceWhere(
      'the allowance is renewed',
      accountId,
      ({ remaining }) => remaining === 3000,
    );
    expect(after.periodStart).toEqual(before.periodEnd);
  });

  it('removes a reservation that has expired', async () => {
    const accountId = await billing.open();
    const reservationId = newId();
    await reserve(billing.database, [{ reservationId, accountId, credits: 9, lifetimeSeconds: 1 }]);
    await until('the reservation is removed', async () => {
      const rows: unknown[] = await billing.database.query(
        'SELECT 1 FROM credit_reservations WHERE reservation_id = $1',
        [reservationId],
      );
      return rows.length === 0;
    });
  });
});
