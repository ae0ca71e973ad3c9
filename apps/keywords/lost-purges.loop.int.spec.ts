import { create, toBinary } from '@bufbuild/protobuf';
import { PurgeSchema } from '#contracts';
import { isoOf, newId } from '#kernel';
import { subjectOf } from '#messaging';
import { createLogger } from '#telemetry';
import { LostPurgesLoop } from './lost-purges.loop.js';
import { startKeywords, type KeywordsUnderTest } from './testing/keywords-under-test.js';

const MINUTE_MS = 60_000;

let keywords: KeywordsUnderTest;
beforeAll(async () => {
  keywords = await startKeywords();
});
afterAll(() => keywords?.stop());

const loopUnderTest = () =>
  new LostPurgesLoop(keywords.bus, keywords.store, keywords.database, createLogger('spec', 'silent'));

/** Publishes a purge that the tables do not know. */
async function lostPurge(accountId: string, keywordId: string, requestedAt = Date.now()) {
  const subject = subjectOf('PURGES', accountId, keywordId);
  const purge = create(PurgeSchema, { accountId, keywordId, requestedAt: isoOf(new Date(requestedAt)) });
  await keywords.store.publish(subject, toBinary(PurgeSchema, purge), newId());
  return {
    requests: async () => (await keywords.store.read('PURGES', subject)).length,
    isGone: async () => {
      const sql = 'SELECT 1 FROM keywords WHERE keyword_id = $1';
      return (await keywords.database.query<unknown[]>(sql, [keywordId])).length === 0;
    },
  };
}

it('a start requests a purge again, but only once, if an older copy of Postgres was restored after the purge', async () => {
  const accountId = await keywords.open('free');
  const { requests, isGone } = await lostPurge(accountId, await keywords.keyword(accountId));
  await loopUnderTest().pass();
  await loopUnderTest().pass();
  expect([await requests(), await isGone()]).toEqual([2, true]);
});

it('a start does not repeat a purge if Postgres does not contain the keyword', async () => {
  const { requests } = await lostPurge(await keywords.open('free'), newId());
  await loopUnderTest().pass();
  expect(await requests()).toBe(1);
});

it('a start keeps a keyword that was created again after its purge', async () => {
  const accountId = await keywords.open('free');
  const keywordId = await keywords.keyword(accountId);
  const { requests, isGone } = await lostPurge(accountId, keywordId, Date.now() - MINUTE_MS);
  await loopUnderTest().pass();
  expect([await requests(), await isGone()]).toEqual([1, false]);
});

it('a stop does not wait until all requests are compared', async () => {
  const accountId = await keywords.open('free');
  const { requests, isGone } = await lostPurge(accountId, await keywords.keyword(accountId));
  const loop = loopUnderTest();
  loop.start();
  await loop.stop();
  expect([await requests(), await isGone()]).toEqual([1, false]);
});
