import { create } from '@bufbuild/protobuf';
import { CheckSchema, ItemSchema } from '#contracts';
import { newId } from '#kernel';
import { openDatabase, type Database } from '#postgres';
import { isolateStores, type IsolatedStores } from '#testing';
import type { Readable } from './readable.js';
import { Stories } from './stories.js';

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

describe('the stories of an account', () => {
  const accountId = newId();
  const [acme, globex, initech] = [newId(), newId(), newId()];
  const stories = () => new Stories(database);
  const link = (keywordId: string, path: string): Readable =>
    ({
      eventId: newId(),
      check: create(CheckSchema, { accountId, keywordId }),
      item: create(ItemSchema, {
        source: 'reddit',
        kind: 'post',
        media: [{ type: 'link', url: `https://example.org/${path}` }],
      }),
    }) as Readable;
  const storyOf = async (item: Readable) => (await stories().of([item])).get(item.eventId);

  it('are the same for all keywords, and an item repeats one only if its own keyword found the story before', async () => {
    const first = await storyOf(link(acme, 'launch'));
    expect(first?.isRepeated).toBe(false);
    const storyId = first?.storyId;
    expect(await storyOf(link(globex, 'launch'))).toEqual({ storyId, isRepeated: false });
    expect(await storyOf(link(initech, 'launch'))).toEqual({ storyId, isRepeated: false });
    expect(await storyOf(link(globex, 'launch'))).toEqual({ storyId, isRepeated: true });
    expect(await storyOf(link(acme, 'launch'))).toEqual({ storyId, isRepeated: true });
    expect((await storyOf(link(acme, 'other')))?.storyId).not.toBe(storyId);
  });

  it('do not call an item repeated that is read a second time', async () => {
    const item = link(acme, 'crash');
    const story = await storyOf(item);
    await storyOf(link(globex, 'crash'));
    expect(await storyOf(item)).toEqual(story);
  });

  it('find a repetition among the items of several keywords that are read together', async () => {
    await storyOf(link(globex, 'batch'));
    const together = [
      link(acme, 'batch'),
      link(globex, 'batch'),
      link(acme, 'batch'),
      link(initech, 'batch'),
    ];
    const found = await stories().of(together);
    expect(together.map(({ eventId }) => found.get(eventId)?.isRepeated)).toEqual([false, true, true, false]);
    expect(new Set([...found.values()].map(({ storyId }) => storyId)).size).toBe(1);
  });
});
