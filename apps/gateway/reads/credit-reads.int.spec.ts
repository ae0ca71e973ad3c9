import { newId } from '#kernel';
import { openDatabase, type Database } from '#postgres';
import { isolateStores, type IsolatedStores } from '#testing';
import { CreditReads, type LedgerPage } from './credit-reads.js';

let stores: IsolatedStores;
let database: Database;
const accountId = newId();
const ROWS = 20_000;

/**
 * One movement per minute. Every 5,000th movement is a charge for x, every 4,000th is a grant; all others are charges
 * for reddit.
 */
beforeAll(async () => {
  stores = await isolateStores();
  database = await openDatabase(stores.databaseUrl, 'spec');
  await database.query(
    `INSERT INTO credit_movements (movement_id, account_id, seq, place, at, fact_at, kind, amount, balance_after, source,
       reference)
     SELECT gen_random_uuid(), $1, n, 0, at, at, CASE WHEN is_grant THEN 'grant' ELSE 'charge' END, 1, n,
       CASE WHEN is_grant THEN NULL WHEN n % 5000 = 1 THEN 'x' ELSE 'reddit' END, n
     FROM (SELECT n, n % 4000 = 0 AS is_grant, '2026-01-01T00:00:00Z'::timestamptz + make_interval(mins => n) AS at
           FROM generate_series(1, $2::int) n) r`,
    [accountId, ROWS],
  );
  await database.query('ANALYZE credit_movements');
});
afterAll(async () => {
  await database?.destroy();
  await stores?.drop();
});

interface Plan {
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

/** Returns the number of rows that the scans of a query plan have read. */
function rowsRead(plan: Plan): number {
  const { Plans: inner = [], 'Rows Removed by Filter': removed = 0 } = plan;
  const own = inner.length === 0 ? (plan['Actual Rows'] + removed) * plan['Actual Loops'] : 0;
  return inner.reduce((sum, one) => sum + rowsRead(one), own);
}

/** Returns the sequence numbers of the movements on the page, and the number of rows that Postgres read for it. */
async function read(page: Partial<LedgerPage>): Promise<{ seqs: number[]; rows: number }> {
  let rows = 0;
  const explained = {
    async query(sql: string, values: unknown[]) {
      const [{ 'QUERY PLAN': plans }]: [{ 'QUERY PLAN': { Plan: Plan }[] }] = await database.query(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`,
        values,
      );
      rows += plans.reduce((sum, { Plan: plan }) => sum + rowsRead(plan), 0);
      return database.query(sql, values);
    },
  } as unknown as Database;
  const found = await new CreditReads(explained).movements(accountId, {
    kinds: [],
    sources: [],
    keywords: [],
    since: undefined,
    until: undefined,
    limit: 3,
    before: undefined,
    ...page,
  });
  return { seqs: found.map(({ seq }) => seq), rows };
}

const minute = (n: number) => new Date(Date.parse('2026-01-01T00:00:00Z') + n * 60_000);

it.each<[string, Partial<LedgerPage>, number[]]>([
  ['without a filter', {}, [20_000, 19_999, 19_998, 19_997]],
  ['of a rare kind', { kinds: ['grant'] }, [20_000, 16_000, 12_000, 8_000]],
  ['of the usual kind', { kinds: ['charge'] }, [19_999, 19_998, 19_997, 19_996]],
  ['of several kinds', { kinds: ['charge', 'grant', 'grant'] }, [20_000, 19_999, 19_998, 19_997]],
  ['of a kind that does not occur', { kinds: ['pack_expiry'] }, []],
  ['of a rare source', { sources: ['x'] }, [15_001, 10_001, 5_001, 1]],
  ['of several sources', { sources: ['x', 'reddit'] }, [19_999, 19_998, 19_997, 19_996]],
  ['of a source that does not occur', { sources: ['github'] }, []],
  [
    'of a source’s charges and grants',
    { sources: ['x'], kinds: ['charge', 'grant'] },
    [15_001, 10_001, 5_001, 1],
  ],
  ['of a source’s grants, which do not exist', { sources: ['reddit'], kinds: ['grant'] }, []],
  ['until a time long ago', { until: minute(9) }, [8, 7, 6, 5]],
  ['since a moment ago', { since: minute(19_999) }, [20_000, 19_999]],
  ['of a time range in the middle', { since: minute(9_998), until: minute(10_000) }, [9_999, 9_998]],
  ['of a rare kind until a time long ago', { kinds: ['grant'], until: minute(5_000) }, [4_000]],
  ['after a cursor', { kinds: ['grant'], before: { seq: 9_000, place: 0 } }, [8_000, 4_000]],
])('a page of the ledger %s reads fewer than 25 of the 20,000 rows', async (_, page, seqs) => {
  const found = await read(page);
  expect(found.seqs).toEqual(seqs);
  expect(found.rows).toBeLessThan(25);
});

it('a time range loses no row if the clocks of writers differ by seconds', async () => {
  const late = newId();
  const at = [10, 25, 20, 40];
  for (const [seq, seconds] of at.entries())
    await database.query(
      `INSERT INTO credit_movements (movement_id, account_id, seq, place, at, fact_at, kind, amount, balance_after,
         reference) VALUES ($1, $2, $3, 0, $4, $4, 'grant', 1, 1, '')`,
      [newId(), late, seq, new Date(Date.UTC(2026, 0, 1, 0, 5, seconds))],
    );
  const page = { kinds: [], sources: [], keywords: [], limit: 9, before: undefined };
  const second = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, 5, n));
  const seqsOf = async (since: Date | undefined, until: Date | undefined) =>
    (await new CreditReads(database).movements(late, { ...page, since, until })).map(({ seq }) => seq);
  expect(await seqsOf(second(22), undefined)).toEqual([3, 1]);
  expect(await seqsOf(undefined, second(22))).toEqual([2, 0]);
});

it('a balance and its usage agree while charges are written', async () => {
  const [one, allowance] = [newId(), 1_000_000];
  await database.query(
    `INSERT INTO credit_balances (account_id, plan, opened_at, period_start, period_end, allowance, allowance_used, balance,
       turns_at, seq) VALUES ($1, 'solo', '2026-01-01', '2026-01-01', '2026-02-01', $2, 0, $2, '2026-02-01', 1)`,
    [one, allowance],
  );
  let isOver = false;
  const charging = (async () => {
    while (!isOver)
      await database.transaction(async (tx) => {
        await tx.query(
          `UPDATE credit_balances SET balance = balance - 1, allowance_used = allowance_used + 1 WHERE account_id = $1`,
          [one],
        );
        await tx.query(
          `INSERT INTO credit_usage AS u VALUES ($1, '2026-01-01', 'x', 'check', 1)
           ON CONFLICT (account_id, period_start, source, operation) DO UPDATE SET credits = u.credits + 1`,
          [one],
        );
      });
  })();
  const sums = new Set<number>();
  for (let n = 0; n < 300; n += 1) {
    const found = await new CreditReads(database).balance(one);
    const used = (found?.usage ?? []).reduce((sum, { credits }) => sum + credits, 0);
    sums.add((found?.balance.remaining ?? 0) + used);
  }
  isOver = true;
  await charging;
  expect([...sums]).toEqual([allowance]);
});
