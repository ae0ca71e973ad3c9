import { newId } from '#kernel';
import { openDatabase, type Database } from '#postgres';
import { isolateStores, type IsolatedStores } from '#testing';
import { QuoteReads } from './quote-reads.js';

let stores: IsolatedStores;
let database: Database;
beforeAll(async () => {
  stores = await isolateStores();
  database = await openDatabase(stores.databaseUrl, 'spec');
});
afterAll(async () => {
  await database?.destroy();
  await stores?.drop();
});

it('readings of the items of a check are charged and are not counted as checks', async () => {
  const [accountId, keywordId, checkId] = [newId(), newId(), newId()];
  const at = '2026-03-04T05:06:07.089Z';
  for (const [operation, amount] of [
    ['check', -5],
    ['first_scan', -7],
    ['analysis', -1],
    ['agent_step', -2],
  ])
    await database.query(
      `INSERT INTO credit_movements (movement_id, account_id, seq, place, at, fact_at, kind, amount, balance_after,
         operation, source, keyword_id, check_id, reference)
       VALUES ($1, $2, 1, 0, $3, $3, 'charge', $4, 0, $5, 'x', $6, $7, '')`,
      [newId(), accountId, at, amount, operation, keywordId, checkId],
    );
  const span = [new Date('2026-03-01'), new Date('2026-04-01')] as const;
  expect(await new QuoteReads(database).charged(accountId, keywordId, ...span)).toEqual([
    { source: 'x', date: '2026-03-04', checks: 2, credits: 15 },
  ]);
});

it('a quoted period states the end of its watch’s previous period, even if this end is before the window', async () => {
  const [accountId, keywordId, watchId] = [newId(), newId(), newId()];
  const at = (day: number) => new Date(Date.UTC(2026, 2, day));
  for (const [from, to] of [
    [at(1), at(2)],
    [at(4), at(5)],
  ])
    await database.query(
      `INSERT INTO quoted_periods (watch_id, account_id, keyword_id, source, from_at, to_at, interval_seconds,
         credits_per_check, first_scan_credits, price_book_version) VALUES ($1, $2, $3, 'x', $4, $5, 60, 5, 0, 'spec')`,
      [watchId, accountId, keywordId, from, to],
    );
  const read = async (since: Date) =>
    (await new QuoteReads(database).periods(accountId, keywordId, since, at(9))).map((one) => one.previousTo);
  expect(await read(at(1))).toEqual([undefined, at(2).getTime()]);
  expect(await read(at(3))).toEqual([at(2).getTime()]);
});
