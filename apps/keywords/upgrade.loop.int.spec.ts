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
