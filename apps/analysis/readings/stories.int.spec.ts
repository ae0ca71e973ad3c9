import { create } from '@bufbuild/protobuf';
import { CheckSchema, ItemSchema } from '#contracts';
import { newId } from '#kernel';
import type { Database } from '#postgres';
import { type SpecDatabase, openSpecDatabase } from '#testing';
import type { Readable } from './readable.js';
import { Stories } from './stories.js';

let spec: SpecDatabase;
let database: Database;

beforeAll(async () => {
  spec = await openSpecDatabase();
  ({ database } = spec);
});
afterAll(() => spec?.drop());

/** Stores 300,000 rows: 500 keys of one account, each found by 600 keywords. */
async function storeManyStories(accountId: string): Promise<void> {
  await database.query(
    `INSERT INTO stories (account_id, key, owner_id, event_id, story_id, told_at)
     SELECT $1, 'key ' || k, md5('owner ' || o)::uuid, md5(k || ' ' || o)::uuid, md5('story ' || k)::uuid,
       now() - make_interval(secs => 500 - k)
     FROM generate_series(1, 500) AS k, generate_series(1, 600) AS o ORDER BY k`,
    [accountId],
  );
  await database.query('ANALYZE stories');
}

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

  it('are the same for all keywords, but an item repeats a story only if its own keyword has found the story before', async () => {
    const first = await storyOf(link(acme, 'launch'));
    expect(first?.isRepeated).toBe(false);
    const storyId = first?.storyId;
    expect(await storyOf(link(globex, 'launch'))).toEqual({ storyId, isRepeated: false });
    expect(await storyOf(link(initech, 'launch'))).toEqual({ storyId, isRepeated: false });
    expect(await storyOf(link(globex, 'launch'))).toEqual({ storyId, isRepeated: true });
    expect(await storyOf(link(acme, 'launch'))).toEqual({ storyId, isRepeated: true });
    expect((await storyOf(link(acme, 'other')))?.storyId).not.toBe(storyId);
  });

  it('are found by their keys among many stories, and Postgres does not scan the index of their times', async () => {
    const many = newId();
    await storeManyStories(many);
    const query = jest.spyOn(database, 'query');
    const item = link(acme, 'launch');
    await stories().of([{ ...item, check: create(CheckSchema, { accountId: many, keywordId: acme }) }]);
    const [sql, values] = query.mock.calls[0] as unknown as [string, unknown[]];
    query.mockRestore();
    const plan: { 'QUERY PLAN': string }[] = await database.query(`EXPLAIN ${sql}`, values);
    const text = plan.map((line) => line['QUERY PLAN']).join('\n');
    expect(text).toContain('stories_pkey');
    expect(text).not.toContain('stories_told_at');
  });

  it('do not mark an item as repeated if the same item is read a second time', async () => {
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
