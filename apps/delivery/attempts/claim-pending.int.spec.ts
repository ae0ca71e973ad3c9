import type { Database, Tx } from '#postgres';
import { openSpecDatabase, type SpecDatabase } from '#testing';
import { claimPending } from './claim-pending.js';

let spec: SpecDatabase;

beforeAll(async () => {
  spec = await openSpecDatabase();
});
afterEach(async () => {
  await spec.database.query('TRUNCATE pending_deliveries');
});
afterAll(() => spec?.drop());

const wait = (tx: Tx, count: number, endpoint: string, due: string) =>
  tx.query(
    `INSERT INTO pending_deliveries (event_id, target_kind, target_id, account_id, watch_id, source, endpoint, body, attempts, first_at, due_at)
     SELECT gen_random_uuid(), 'webhook', gen_random_uuid(), '00000000-0000-0000-0000-000000000001', gen_random_uuid(), 'rss', ${endpoint}, 'x', 1,
       now() - interval '1 hour', now() + $2::interval FROM generate_series(1, $1) AS n`,
    [count, due],
  );

/** Claims, and returns the number of claimed deliveries and of rows that Postgres read. */
async function claim(tx: Tx): Promise<{ claimed: number; read: number }> {
  const count = async () => {
    const [row] = await tx.query<{ n: number }[]>(
      `SELECT idx_tup_fetch + seq_tup_read AS n FROM pg_stat_xact_user_tables WHERE relname = 'pending_deliveries'`,
    );
    return row!.n;
  };
  const before = await count();
  const limits = { byMail: false, perEndpoint: 32, max: 1000 };
  const found = await claimPending(tx as unknown as Database, limits);
  return { claimed: found.length, read: (await count()) - before };
}

it('a claim of 232 deliveries reads fewer than 5,000 rows, even if the statistics of Postgres are outdated', async () => {
  const { claimed, read } = await spec.database.transaction(async (tx) => {
    await wait(tx, 300, `'http://one.example.org/'`, '1 hour');
    await tx.query('ANALYZE pending_deliveries');
    await tx.query('DELETE FROM pending_deliveries');
    await wait(tx, 2000, `'http://one.example.org/'`, '-1 hour');
    await wait(tx, 200, `'http://other.example.org/' || n`, '-1 minute');
    return claim(tx);
  });
  expect(claimed).toBe(232);
  // Deleted rows are read too.
  expect(read).toBeLessThan(5000);
});

it('a claim of 3 deliveries reads fewer than 100 rows if 20,000 endpoints wait for a retry', async () => {
  const { claimed, read } = await spec.database.transaction(async (tx) => {
    await wait(tx, 20_000, `'http://waiting.example.org/' || n`, '1 hour');
    await tx.query('ANALYZE pending_deliveries');
    await wait(tx, 3, `'http://waiting.example.org/' || n`, '-1 minute');
    return claim(tx);
  });
  expect(claimed).toBe(3);
  expect(read).toBeLessThan(100);
});
