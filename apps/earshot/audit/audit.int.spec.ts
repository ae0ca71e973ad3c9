import { create, toBinary } from '@bufbuild/protobuf';
import { ChangePlanSchema, GrantCreditsSchema, LookupSchema } from '#contracts';
import { isoOf, newId, Outage } from '#kernel';
import { COMMANDS, subjectOf, type Bus } from '#messaging';
import { until } from '#testing';
import { CommandClient } from '#transport';
import { startBilling, type BillingUnderTest } from '../../billing/testing/billing-under-test.js';
import { audit } from './audit.js';
import { readAccount } from './read-account.js';

let billing: BillingUnderTest;
beforeAll(async () => {
  billing = await startBilling();
});
afterAll(() => billing?.stop());

const audited = async (accountId: string) =>
  audit(await readAccount(billing.bus, billing.database, accountId));

it('the audit agrees with an account with checks, a lookup, a grant and a plan change, and finds changed or deleted rows', async () => {
  const { bus, store, database } = billing;
  const accountId = await billing.open('solo');
  const other = await billing.open();
  await billing.check(other);
  const { watchId } = await billing.check(accountId, { costCredits: 10, rateCredits: 5, units: 2 });
  await billing.check(accountId, { watchId, failure: { kind: 'timeout', reason: 'late' }, costCredits: 0 });
  await billing.check(accountId, { watchId, part: 2, parts: 2, costCredits: 0 });
  const lookup = create(LookupSchema, {
    lookupId: newId(),
    accountId,
    source: 'x',
    operation: 'user',
    at: isoOf(Date.now()),
    costCredits: 3,
    billed: true,
  });
  await store.publish(subjectOf('LOOKUPS', accountId), toBinary(LookupSchema, lookup), lookup.lookupId);
  await billing.balanceWhere('both are charged', accountId, ({ remaining }) => remaining === 59_987);
  const grant = create(GrantCreditsSchema, { commandId: newId(), accountId, amount: 100 });
  await new CommandClient(bus).request(COMMANDS.grantCredits, grant);
  const change = create(ChangePlanSchema, { commandId: newId(), accountId, plan: 'free' });
  await new CommandClient(bus).request(COMMANDS.changePlan, change);
  await database.query(
    `INSERT INTO quoted_periods (watch_id, account_id, source, from_at, interval_seconds, credits_per_check,
       first_scan_credits, price_book_version) VALUES ($1, $2, 'reddit', now(), 600, 10, 0, 'spec')`,
    [watchId, accountId],
  );
  const report = await audited(accountId);
  expect(report).toMatchObject({
    agrees: true,
    faults: [],
    notes: [],
    balance: 3087,
    movements: 5,
    charges: 2,
    days: [
      { source: 'reddit', checks: 1, failedChecks: 1, charged: 10, chargedUnquoted: 0 },
      { source: 'x', checks: 0, charged: 0, chargedOtherwise: 3 },
    ],
  });
  await database.query('UPDATE credit_balances SET balance = balance + 1 WHERE account_id = $1', [accountId]);
  await database.query(`DELETE FROM credit_movements WHERE account_id = $1 AND kind = 'grant'`, [accountId]);
  expect((await audited(accountId)).faults).toEqual([
    'the balance in the tables is 3088, but 3087 according to the stream',
    'the number of movements in the tables is 4, but 5 according to the stream',
    'the sum of the movements in the tables is 2987, but 3087 according to the stream',
  ]);
});

it('the audit agrees with a check that is charged after its account changed to a smaller plan', async () => {
  const accountId = await billing.open('solo');
  await billing.check(accountId, { costCredits: 3_000 });
  await billing.balanceWhere('the check is charged', accountId, ({ remaining }) => remaining === 57_000);
  const change = create(ChangePlanSchema, { commandId: newId(), accountId, plan: 'free' });
  await new CommandClient(billing.bus).request(COMMANDS.changePlan, change);
  await billing.check(accountId);
  await until('both checks are charged', async () => (await audited(accountId)).charges === 2);
  expect(await audited(accountId)).toMatchObject({
    faults: [],
    notes: [expect.stringMatching(/during the work: 1 \(2 credits were not paid\)$/)],
    balance: 0,
  });
});

it('the audit finds a charge whose fact has vanished from the stream', async () => {
  const accountId = await billing.open();
  const { checkId, watchId } = await billing.check(accountId);
  await billing.balanceWhere('it is charged', accountId, ({ remaining }) => remaining === 2998);
  // With this message on KEYWORDS, the watch counts as not purged.
  await billing.store.publish(subjectOf('KEYWORDS', accountId, watchId), new Uint8Array(), newId());
  await billing.bus.jsm.streams.purge('CHECKS', { filter: subjectOf('CHECKS', accountId, watchId) });
  expect((await audited(accountId)).faults).toEqual([
    expect.stringMatching(new RegExp(`^check ${checkId} .* was charged 2, but there is no such fact$`)),
  ]);
});

it('the audit reports nothing for an unknown account', async () => {
  expect(await audited(newId())).toMatchObject({ agrees: true, movements: 0, days: [] });
});

it('the audit fails as an outage if the server that delivers the facts does not have the last fact yet', async () => {
  const { bus, database } = billing;
  const accountId = await billing.open('solo');
  await billing.check(accountId);
  const getMessage = () => Promise.resolve({ seq: Number.MAX_SAFE_INTEGER });
  const ahead = { ...bus, reads: { streams: { getMessage } } } as unknown as Bus;
  await expect(readAccount(ahead, database, accountId)).rejects.toThrow(Outage);
});

it('the audit ends although messages are deleted while it reads them', async () => {
  const { bus, database } = billing;
  const accountId = await billing.open();
  const { watchId } = await billing.check(accountId);
  await billing.balanceWhere('it is charged', accountId, ({ remaining }) => remaining === 2998);
  const consumers = {
    async get(...args: Parameters<Bus['js']['consumers']['get']>) {
      const consumer = await bus.js.consumers.get(...args);
      const info = consumer.info.bind(consumer);
      consumer.info = async () => {
        const answered = await info();
        if (args[0] === 'CHECKS')
          await bus.jsm.streams.purge('CHECKS', { filter: subjectOf('CHECKS', accountId, watchId) });
        return answered;
      };
      return consumer;
    },
  };
  const beside = { ...bus, js: { consumers } } as unknown as Bus;
  const { facts } = await readAccount(beside, database, accountId);
  expect(facts).toEqual([]);
});

it('the audit reads more bytes of checks than the server holds for one connection, and keeps its connection', async () => {
  const { bus, database } = billing;
  const accountId = await billing.open();
  const large = { warnings: ['x'.repeat(500_000)], costCredits: 0 };
  for (let n = 0; n < 300; n += 10)
    await Promise.all(Array.from({ length: 10 }, () => billing.check(accountId, large)));
  const statuses: string[] = [];
  void (async () => {
    for await (const { type } of bus.nc.status()) statuses.push(type);
  })();
  const { facts } = await readAccount(bus, database, accountId);
  expect([facts.length, statuses]).toEqual([300, []]);
}, 60_000);
