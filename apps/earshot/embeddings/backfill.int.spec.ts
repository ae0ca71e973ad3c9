import {
  insertRows,
  NO_ID,
  openClickHouse,
  selectRows,
  type ClickHouseClient,
  type MentionVectorRow,
} from '#clickhouse';
import { EmbeddingsUnavailable, LOCAL_EMBEDDINGS, toBfloat16, type Embedder } from '#embeddings';
import { newId } from '#kernel';
import { openDatabase, type Database } from '#postgres';
import { isolateStores, type IsolatedStores } from '#testing';
import { backfillEmbeddings, embeddingsStatus, refuseOtherModel, type BackfillProgress } from './backfill.js';

let stores: IsolatedStores;
let clickhouse: ClickHouseClient;
let database: Database;
const [account, watch, purgedWatch] = [newId(), newId(), newId()];

beforeAll(async () => {
  stores = await isolateStores();
  clickhouse = await openClickHouse(stores.clickhouseUrl, 'spec');
  database = await openDatabase(stores.databaseUrl, 'spec', 2);
  // A mention gets a vector only if the id of a watch or of a keyword is its watch_id. This keyword is enough.
  await database.query(
    `INSERT INTO keywords (keyword_id, account_id, name, state, definition, created_at, updated_at, version)
     VALUES ($1, $2, 'x', 'active', '{}', now(), now(), 1)`,
    [watch, account],
  );
});
afterAll(async () => {
  await database?.destroy();
  await clickhouse?.close();
  await stores?.drop();
});

/** Returns an embedder that gives every text the same vector, and fails after `failsAfter` texts. */
function embedder(model: string, failsAfter = Infinity): Embedder & { texts: string[] } {
  const texts: string[] = [];
  return {
    model,
    texts,
    async embed(more) {
      if (texts.length + more.length > failsAfter) throw new EmbeddingsUnavailable('down');
      texts.push(...more);
      return more.map(() => toBfloat16(Float32Array.of(1, 0)));
    },
    close: async () => {},
  };
}

async function mentions(count: number, more: Record<string, unknown> = {}) {
  const rows = Array.from({ length: count }, (_, n) => ({
    account_id: account,
    occurred_at: new Date(Date.UTC(2026, 2, 1 + (n % 3), 12)).toISOString(),
    event_id: newId(),
    watch_id: watch,
    keyword_id: NO_ID,
    source: 'rss',
    text: `text ${n}`,
    ...more,
  }));
  await insertRows(clickhouse, 'mentions', rows);
}

const stored = async () =>
  selectRows<Pick<MentionVectorRow, 'model' | 'event_id'>>(
    clickhouse,
    'SELECT model, event_id FROM mention_vectors FINAL',
  );

it('the backfill embeds mentions without a vector, continues after an interruption, and stores no vectors of purged mentions', async () => {
  await mentions(700);
  await mentions(3, { watch_id: purgedWatch });
  await mentions(2, { text: '' });
  expect(await embeddingsStatus(clickhouse, 'a')).toEqual({
    model: 'a',
    mentions: 703,
    embedded: 0,
    ofOtherModels: 0,
  });

  const broken = embedder('a', 400);
  await expect(backfillEmbeddings(clickhouse, database, broken, () => {})).rejects.toThrow('down');
  const before = (await stored()).length;
  expect(before).toBeGreaterThan(0);

  const reported: BackfillProgress[] = [];
  const rest = embedder('a');
  const done = await backfillEmbeddings(clickhouse, database, rest, (progress) => reported.push(progress));
  expect(rest.texts.length).toBe(703 - before);
  expect(done).toEqual({ phase: 'done', processed: 703 - before, total: 703 - before, secondsLeft: 0 });
  expect(reported.at(-1)).toMatchObject({ phase: 'embed', processed: 703 - before });
  expect((await stored()).length).toBe(700);

  const again = embedder('a');
  await backfillEmbeddings(clickhouse, database, again, () => {});
  // The mentions of purged keywords are tried again, because their rows still exist.
  expect(again.texts.length).toBe(3);
});

it('a backfill is refused if the newest vector is of another model, because the backfill would delete all vectors', async () => {
  await refuseOtherModel(clickhouse, 'a');
  await expect(refuseOtherModel(clickhouse, 'b')).rejects.toThrow(
    /newest vector is of the model a, but this command would use b.*--model-changed/,
  );
});

describe('after an interrupted backfill with another model', () => {
  const vectors = (model: string, ...days: number[]) =>
    insertRows<MentionVectorRow>(
      clickhouse,
      'mention_vectors',
      days.map((day) => ({ ...row, model, occurred_at: new Date(Date.UTC(2027, 0, day)).toISOString() })),
    );
  let row: MentionVectorRow;
  beforeEach(async () => {
    const [one] = await selectRows<MentionVectorRow>(clickhouse, 'SELECT * FROM mention_vectors LIMIT 1');
    if (!one) throw new Error('there is no vector');
    row = one;
    await clickhouse.command({ query: 'CREATE TABLE kept_vectors CLONE AS mention_vectors' });
    await clickhouse.command({ query: 'TRUNCATE TABLE mention_vectors' });
  });
  afterEach(async () => {
    await clickhouse.command({ query: 'TRUNCATE TABLE mention_vectors' });
    await clickhouse.command({ query: 'INSERT INTO mention_vectors SELECT * FROM kept_vectors' });
    await clickhouse.command({ query: 'DROP TABLE kept_vectors SYNC' });
  });

  it('both models are refused while the newest mention has vectors of both', async () => {
    await vectors('right', 1, 2);
    await vectors('wrong', 2);
    for (const [model, other] of [
      ['right', 'wrong'],
      ['wrong', 'right'],
    ] as const)
      await expect(refuseOtherModel(clickhouse, model)).rejects.toThrow(
        new RegExp(
          `the models ${model} and ${other}, because an earlier backfill was interrupted.*` +
            `delete the vectors of ${other}.*If you are sure that the services use ${model}, add --model-changed`,
        ),
      );
    await expect(refuseOtherModel(clickhouse, 'third')).rejects.toThrow(
      'the newest vectors are of the models right and wrong, but this command would use third',
    );
  });

  it('only the model of the services is accepted after they have embedded a newer mention', async () => {
    await vectors('wrong', 2);
    await vectors('right', 1, 2, 3);
    await refuseOtherModel(clickhouse, 'right');
    await expect(refuseOtherModel(clickhouse, 'wrong')).rejects.toThrow(
      'newest vector is of the model right',
    );
  });
});

it('the backfill replaces the vectors of the previous model', async () => {
  await backfillEmbeddings(clickhouse, database, embedder('b'), () => {});
  expect(new Set((await stored()).map(({ model }) => model))).toEqual(new Set(['b']));
  expect(await embeddingsStatus(clickhouse, 'b')).toMatchObject({ embedded: 700, ofOtherModels: 0 });
  expect(LOCAL_EMBEDDINGS).toBe('use-lite-2');
});
