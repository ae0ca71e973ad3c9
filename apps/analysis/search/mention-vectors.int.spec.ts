import { insertRows, openClickHouse, selectRows } from '#clickhouse';
import { fromBfloat16 } from '#embeddings';
import { isolateStores, type IsolatedStores } from '#testing';
import { numbersOf } from './mention-vectors.js';

let stores: IsolatedStores;
beforeAll(async () => {
  stores = await isolateStores();
});
afterAll(() => stores?.drop());

it('ClickHouse stores exactly the bfloat16 values of a vector', async () => {
  const clickhouse = await openClickHouse(stores.clickhouseUrl, 'spec');
  await clickhouse.command({
    query: 'CREATE TABLE vectors (v Array(BFloat16)) ENGINE = MergeTree ORDER BY tuple()',
  });
  // All values from 2 ** -20 to almost 2, and their negatives. The numbers of a vector of length 1 are at most 1.
  const bits = Array.from({ length: 0x4000 - 0x3580 }, (_, n) => 0x3580 + n);
  const vector = new Uint8Array(Uint16Array.from([...bits, ...bits.map((one) => one | 0x8000)]).buffer);
  await insertRows(clickhouse, 'vectors', [{ v: numbersOf(vector) }]);
  const query = 'SELECT arrayMap(x -> toFloat32(x), v) AS v FROM vectors';
  const [row] = await selectRows<{ v: number[] }>(clickhouse, query);
  expect(row?.v.map(Math.fround)).toEqual([...fromBfloat16(vector)]);
  await clickhouse.close();
});
