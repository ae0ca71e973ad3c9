import { Readable } from 'node:stream';
import { createClient, type ClickHouseClient } from '@clickhouse/client';

/** A running bridge, and a client of it. */
interface RunningBridge {
  url: string;
  credentials: { user: string; password: string };
  client: ClickHouseClient;
  /** Runs a query. @returns the rows of the result */
  rows<T = Record<string, unknown>>(query: string, params?: Record<string, unknown>): Promise<T[]>;
}

/**
 * Defines tests of the standard client through a bridge. One of these tests creates the table `texts`, which later
 * tests use.
 */
export function clientTasks(bridge: () => RunningBridge): void {
  describe('the standard ClickHouse client', () => {
    it('pings', async () => {
      expect(await bridge().client.ping()).toEqual({ success: true });
      expect(await bridge().client.ping({ select: true })).toEqual({ success: true });
    });

    it('creates a table with a text index, inserts two versions of 5,000 rows and reads the newest version of each row', async () => {
      await bridge().client.command({
        query: `CREATE TABLE mentions (id UInt64, version UInt32, text String,
          INDEX words text TYPE text(tokenizer = splitByNonAlpha))
          ENGINE = ReplacingMergeTree(version) ORDER BY id SETTINGS index_granularity = 1024`,
      });
      for (const version of [1, 2]) {
        const values = Array.from({ length: 5_000 }, (_, id) => ({
          id,
          version,
          text: `mention ${id} of version${version}`,
        }));
        const { summary } = await bridge().client.insert({
          table: 'mentions',
          values,
          format: 'JSONEachRow',
        });
        expect(summary?.written_rows).toBe('5000');
      }
      expect(await bridge().rows('SELECT count() AS n, min(version) AS v FROM mentions FINAL')).toEqual([
        { n: 5000, v: 2 },
      ]);
      expect(
        await bridge().rows("SELECT id FROM mentions WHERE hasToken(text, '4711') ORDER BY version"),
      ).toEqual([{ id: 4711 }, { id: 4711 }]);
    });

    it('passes parameters with quotes, control characters and other scripts unchanged', async () => {
      const texts = [
        `it's "x" \`y\` \\ \\n`,
        'tab\tline\nreturn\r',
        'zero\0byte',
        'ünïcødé 日本 🦆',
        `'; DROP TABLE mentions; --`,
        '',
      ];
      for (const value of texts)
        expect(await bridge().rows('SELECT {v:String} AS v', { v: value })).toEqual([{ v: value }]);
      expect(await bridge().rows('SELECT {v:Array(String)} AS v', { v: texts })).toEqual([{ v: texts }]);
      expect(
        await bridge().rows('SELECT {n:Nullable(UInt8)} AS n, {d:DateTime64(3)} AS d', {
          n: null,
          d: new Date(1.5e12 + 7),
        }),
      ).toEqual([{ n: null, d: '2017-07-14 02:40:00.007' }]);
    });

    it('stores text with line breaks, quotes, a zero byte and an emoji unchanged', async () => {
      await bridge().client.command({
        query: 'CREATE TABLE texts (n UInt8, s String) ENGINE = MergeTree ORDER BY n',
      });
      const values = [`a\n\nDROP TABLE texts;\n`, `'";\\`, 'zero\0byte', '🦆'].map((s, n) => ({ n, s }));
      await bridge().client.insert({ table: 'texts', values, format: 'JSONEachRow' });
      const csv = Readable.from([Buffer.from('9,"a\n\n'), Buffer.from('DROP TABLE texts"\n')], {
        objectMode: false,
      });
      await bridge().client.insert({ table: 'texts', values: csv, format: 'CSV' });
      await bridge().client.command({ query: "INSERT INTO texts VALUES (10, 'a\n\nb;c'), (11, 'xy')" });
      expect(await bridge().rows('SELECT * FROM texts ORDER BY n')).toEqual([
        ...values,
        { n: 9, s: 'a\n\nDROP TABLE texts' },
        { n: 10, s: 'a\n\nb;c' },
        { n: 11, s: 'xy' },
      ]);
    });

    it('sends long parameters as a form', async () => {
      const ids = Array.from({ length: 40_000 }, (_, i) => `id-${i}`);
      const result = await bridge().client.query({
        query: 'SELECT length({ids:Array(String)}) AS n',
        query_params: { ids },
        use_multipart_params: true,
        format: 'JSONEachRow',
      });
      expect(await result.json()).toEqual([{ n: 40_000 }]);
    });

    it('compresses requests and responses', async () => {
      const { url, credentials } = bridge();
      const compressing = createClient({
        url,
        username: credentials.user,
        password: credentials.password,
        compression: { request: true, response: true },
      });
      const values = Array.from({ length: 1_000 }, (_, i) => ({ n: 200, s: `packed ${i}` }));
      await compressing.insert({ table: 'texts', values, format: 'JSONEachRow' });
      const result = await compressing.query({
        query: 'SELECT count() AS packed FROM texts WHERE n = 200',
        format: 'JSONEachRow',
      });
      expect(result.response_headers['content-encoding']).toBe('gzip');
      expect(await result.json()).toEqual([{ packed: 1_000 }]);
      await compressing.close();
    });

    it('returns the id of a query', async () => {
      expect((await bridge().client.query({ query: 'SELECT 1', query_id: 'my-own' })).query_id).toBe(
        'my-own',
      );
    });

    it('runs many queries at the same time, each with its own parameters', async () => {
      const numbers = Array.from({ length: 60 }, (_, i) => i);
      const answers = await Promise.all(
        numbers.map((i) => bridge().rows<{ i: number }>('SELECT {i:UInt32} AS i', { i })),
      );
      expect(answers.map(([row]) => row?.i)).toEqual(numbers);
    });
  });
}
