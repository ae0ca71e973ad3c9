import { newId } from '#kernel';
import { createLogger } from '#telemetry';
import { fundAccount, until } from '#testing';
import { startKeywords, type KeywordsUnderTest } from './testing/keywords-under-test.js';
import { PausesLoop } from './pauses.loop.js';

let keywords: KeywordsUnderTest;
let loop: PausesLoop | undefined;
beforeAll(async () => {
  keywords = await startKeywords();
});
afterEach(async () => {
  await loop?.stop();
  loop = undefined;
});
afterAll(() => keywords?.stop());

/**
 * Starts the loop. A spec can start the loop late: then it can execute a command after a schedule has started or ended,
 * but before the loop has processed this start or end.
 */
function startLoop(): void {
  loop = new PausesLoop(keywords.database, keywords.decisions, createLogger('spec', 'silent'));
  loop.start();
}

const pausesOf = async (id: string) => (await keywords.keywordRow(id)).pauses;
const isPausedFor = (id: string, ...reasons: string[]) =>
  until(reasons.length > 0 ? `it is paused for ${reasons.join()}` : 'it is not paused', async () => {
    const pauses = await pausesOf(id);
    return pauses.join() === reasons.join();
  });

describe('a schedule whose start or end was not processed yet', () => {
  /** Returns a keyword whose schedule has just begun or ended. */
  async function keywordAfterScheduleChange(
    accountId: string,
    which: 'startsAt' | 'endsAt',
  ): Promise<string> {
    const at = Date.now() + 300;
    const schedule = { [which]: new Date(at).toISOString(), timezone: 'UTC' };
    const id = await keywords.keyword(accountId, { schedule });
    expect(await pausesOf(id)).toEqual(which === 'startsAt' ? ['schedule'] : []);
    await until('its schedule has changed', () => Date.now() >= at);
    return id;
  }

  it('ends even if the user has paused and resumed the keyword meanwhile', async () => {
    const accountId = await keywords.open('solo');
    const id = await keywordAfterScheduleChange(accountId, 'endsAt');
    await keywords.pause(accountId, id);
    await keywords.resume(accountId, id);
    startLoop();
    await isPausedFor(id, 'schedule');
    await until(
      'there is no next schedule change',
      async () => (await keywords.keywordRow(id)).turnsAt === null,
    );
  });

  it('ends even if the credits have been used up meanwhile', async () => {
    const accountId = await keywords.open('solo');
    const id = await keywordAfterScheduleChange(accountId, 'endsAt');
    await keywords.pauseForCredits(accountId, id, 1_000_000);
    startLoop();
    await isPausedFor(id, 'schedule', 'insufficient_credits');
  });

  it('begins even if the user has paused the keyword meanwhile', async () => {
    const accountId = await keywords.open('solo');
    const id = await keywordAfterScheduleChange(accountId, 'startsAt');
    await keywords.pause(accountId, id);
    startLoop();
    await isPausedFor(id, 'user');
  });

  it('counts as begun if the user resumes the keyword after the start of the schedule', async () => {
    const accountId = await keywords.open('solo');
    const id = await keywordAfterScheduleChange(accountId, 'startsAt');
    await keywords.resume(accountId, id);
    expect(await pausesOf(id)).toEqual([]);
    startLoop();
    await until(
      'there is no next schedule change',
      async () => (await keywords.keywordRow(id)).turnsAt === null,
    );
    expect(await pausesOf(id)).toEqual([]);
  });

  it('is processed by the loop if it ended shortly before the keyword was created', async () => {
    const accountId = await keywords.open('solo');
    const endsAt = new Date(Date.now() - 1000).toISOString();
    const id = await keywords.keyword(accountId, { schedule: { endsAt, timezone: 'UTC' } });
    const { pauses, turnsAt } = await keywords.keywordRow(id);
    expect([pauses, turnsAt?.toISOString()]).toEqual([['schedule'], endsAt]);
    startLoop();
    await until(
      'there is no next schedule change',
      async () => (await keywords.keywordRow(id)).turnsAt === null,
    );
    expect(await pausesOf(id)).toEqual(['schedule']);
  });
});

describe('an account that can pay again', () => {
  it('resumes its keywords, and needs no credits for a watch that was deleted meanwhile', async () => {
    const accountId = await keywords.open('solo');
    const watchId = await keywords.loneWatch(accountId, 'old');
    const id = await keywords.keyword(accountId);
    await keywords.pauseForCredits(accountId, watchId, 5);
    await keywords.pauseForCredits(accountId, id, 5);
    await keywords.retireWatch(accountId, watchId);
    expect(await keywords.watchRow(watchId)).toEqual({ pauses: [] });
    await fundAccount(keywords.database, accountId, 9);
    startLoop();
    await isPausedFor(id);
  });

  /**
   * Inserts paused watches that are older than all other watches. KEYWORDS contains no decisions about the inserted
   * watches, so these watches never resume.
   */
  const insertPausedWatches = (accountId: string, retired: boolean) =>
    keywords.database.query(
      `INSERT INTO watches (watch_id, account_id, source, criteria, criteria_hash, interval_seconds, webhook_mode,
         analysis, backfill, is_active, retired_at, created_at, updated_at, pauses, credits_needed)
       SELECT gen_random_uuid(), $1, 'hackernews', '{}', 'h' || n, 3600, 'all', false, false, false,
         CASE WHEN $2 THEN now() END, now() - interval '1 day', now(), ARRAY['insufficient_credits'], 1
       FROM generate_series(1, 250) AS n`,
      [accountId, retired],
    );

  it.each([
    { what: 'deleted', retired: true, reserved: 0 },
    { what: 'of another account whose credits are all reserved', retired: false, reserved: 1000 },
    { what: 'of another account with credits for each of them', retired: false, reserved: 0 },
  ])('resumes its keyword even if 250 older paused watches are $what', async ({ retired, reserved }) => {
    const other = await keywords.open('solo', 1000);
    await insertPausedWatches(other, retired);
    await keywords.database.query(
      `INSERT INTO credit_reservations (reservation_id, account_id, amount, expires_at)
       VALUES ($1, $2, $3, now() + interval '1 hour')`,
      [newId(), other, reserved],
    );
    const accountId = await keywords.open('solo');
    const id = await keywords.keyword(accountId);
    await keywords.pauseForCredits(accountId, id, 5);
    startLoop();
    await isPausedFor(id);
    await keywords.database.query('DELETE FROM watches WHERE account_id = $1', [other]);
  });
});
