import { PRICE_BOOK_VERSION } from '#contracts';
import { createLogger } from '#telemetry';
import { until } from '#testing';
import { PlanEnforcement } from './planning/plan-enforcement.js';
import { startKeywords, type KeywordsUnderTest } from './testing/keywords-under-test.js';
import { UpgradeLoop } from './upgrade.loop.js';

let keywords: KeywordsUnderTest;
beforeAll(async () => {
  keywords = await startKeywords();
});
afterAll(() => keywords?.stop());

it('watches without a price get a price, even if their criteria contain a field of a newer release', async () => {
  const { database, decisions, admission } = keywords;
  const accountId = await keywords.open('free');
  const prices = () =>
    database.query<{ credits_per_check: number; price_book_version: string }[]>(
      'SELECT credits_per_check, price_book_version FROM watches WHERE account_id = $1',
      [accountId],
    );
  await keywords.loneWatch(accountId, 'acme');
  const priced = await prices();
  await database.query(
    `UPDATE watches SET criteria = criteria || '{"fieldOfNewerRelease": 1}', credits_per_check = 0,
       price_book_version = '' WHERE account_id = $1`,
    [accountId],
  );
  const plans = new PlanEnforcement(decisions, admission);
  const loop = new UpgradeLoop(database, plans, admission, createLogger('spec', 'silent'));
  loop.start();
  await until('the watch has a price', async () => (await prices())[0]?.price_book_version !== '');
  await loop.stop();
  expect(priced[0]?.price_book_version).toBe(PRICE_BOOK_VERSION);
  expect(await prices()).toEqual(priced);
});

it('watches with the price of an older price book get the present price, and a new quoted period begins', async () => {
  const { database, decisions, admission } = keywords;
  const accountId = await keywords.open('free');
  await keywords.loneWatch(accountId, 'acme');
  const quoted = () =>
    database.query<{ credits_per_check: number; price_book_version: string; to_at: Date | null }[]>(
      `SELECT credits_per_check, price_book_version, to_at FROM quoted_periods WHERE account_id = $1 ORDER BY from_at`,
      [accountId],
    );
  const present = await quoted();
  for (const table of ['watches', 'quoted_periods'])
    await database.query(
      `UPDATE ${table} SET credits_per_check = 70, price_book_version = '2026-01-01' WHERE account_id = $1`,
      [accountId],
    );
  const plans = new PlanEnforcement(decisions, admission);
  const loop = new UpgradeLoop(database, plans, admission, createLogger('spec', 'silent'));
  loop.start();
  await until('a new period begins', async () => (await quoted()).length === 2);
  await loop.stop();
  const old = { credits_per_check: 70, price_book_version: '2026-01-01', to_at: expect.any(Date) as Date };
  expect(await quoted()).toEqual([old, ...present]);
});

it('a watch that has not run yet gets the present price of its first scan', async () => {
  const { database, decisions, admission } = keywords;
  const accountId = await keywords.open('free');
  await keywords.loneWatch(accountId, 'acme');
  await database.query(
    `UPDATE watches SET backfill = true, first_scan_credits = 70, price_book_version = '2026-01-01' WHERE account_id = $1`,
    [accountId],
  );
  const plans = new PlanEnforcement(decisions, admission);
  await new UpgradeLoop(database, plans, admission, createLogger('spec', 'silent')).pass();
  expect(
    await database.query('SELECT first_scan_credits FROM watches WHERE account_id = $1', [accountId]),
  ).toEqual([{ first_scan_credits: 1 }]);
});

it('watches that an older release creates after the start get the present price, and prices of a newer release do not change', async () => {
  const { database, decisions, admission } = keywords;
  const accountId = await keywords.open('free');
  const plans = new PlanEnforcement(decisions, admission);
  const loop = new UpgradeLoop(database, plans, admission, createLogger('spec', 'silent'));
  await loop.pass();
  await keywords.loneWatch(accountId, 'acme');
  const versionAfterPass = async (version: string) => {
    await database.query('UPDATE watches SET price_book_version = $2 WHERE account_id = $1', [
      accountId,
      version,
    ]);
    await loop.pass();
    const rows = await database.query<{ price_book_version: string }[]>(
      'SELECT price_book_version FROM watches WHERE account_id = $1',
      [accountId],
    );
    return rows.map((row) => row.price_book_version);
  };
  expect(await versionAfterPass('2026-01-01')).toEqual([PRICE_BOOK_VERSION]);
  expect(await versionAfterPass('9999-01-01')).toEqual(['9999-01-01']);
});
