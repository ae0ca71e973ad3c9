import { create, toBinary } from '@bufbuild/protobuf';
import { PurgeSchema } from '#contracts';
import { newId } from '#kernel';
import { subjectOf } from '#messaging';
import { createLogger } from '#telemetry';
import { markPurged } from './handlers/purge.handler.js';
import { LostPurgesLoop } from './lost-purges.loop.js';
import { startKeywords, type KeywordsUnderTest } from './testing/keywords-under-test.js';

let keywords: KeywordsUnderTest;
beforeAll(async () => {
  keywords = await startKeywords();
});
afterAll(() => keywords?.stop());

it('a start requests a purge again once, if an older copy of Postgres was restored after it', async () => {
  const { bus, database, store } = keywords;
  const accountId = await keywords.open('free');
  const keywordId = await keywords.keyword(accountId);
  const subject = subjectOf('PURGES', accountId, keywordId);
  const purge = create(PurgeSchema, { accountId, keywordId });
  await store.publish(subject, toBinary(PurgeSchema, purge), newId());
  const startAndStop = async () => {
    const loop = new LostPurgesLoop(bus, store, database, createLogger('spec', 'silent'));
    loop.start();
    await loop.stop();
  };
  await startAndStop();
  await startAndStop();
  expect(await store.read('PURGES', subject)).toHaveLength(2);
  expect(await database.query('SELECT 1 FROM keywords WHERE keyword_id = $1', [keywordId])).toEqual([]);
});

it('a start does not repeat a purge that Postgres knows', async () => {
  const { bus, database, store } = keywords;
  const [accountId, keywordId] = [await keywords.open('free'), newId()];
  const subject = subjectOf('PURGES', accountId, keywordId);
  const purge = create(PurgeSchema, { accountId, keywordId });
  await store.publish(subject, toBinary(PurgeSchema, purge), newId());
  await markPurged(database, { keywordId, accountId });
  const loop = new LostPurgesLoop(bus, store, database, createLogger('spec', 'silent'));
  loop.start();
  await loop.stop();
  expect(await store.read('PURGES', subject)).toHaveLength(1);
});
