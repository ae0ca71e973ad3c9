import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { create, toBinary } from '@bufbuild/protobuf';
import { AccountDecisionSchema, KeywordDecisionSchema } from '#contracts';
import { EventStore } from '#event-store';
import { newId } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { applyInOrder } from '#projections';
import { createLogger } from '#telemetry';
import { checkout, isolateStores, programEnv, until, type IsolatedStores } from '#testing';
import { accountsProjection } from '../billing/projections/accounts.projection.js';
import { keywordsProjection } from '../keywords/projections/keywords.projection.js';
import { scheduleProjection } from '../polling/projections/schedule.projection.js';

const CLI = fileURLToPath(new URL('dist/apps/earshot/cli.js', checkout));
/** Number of accounts. A rebuild reads their messages in two batches. */
const ACCOUNTS = 520;
/** Each test starts one or two processes. */
const TWO_PROCESSES_MS = 60_000;
let stores: IsolatedStores;
let bus: Bus;
let database: Database;

beforeAll(async () => {
  stores = await isolateStores();
  bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  database = await openDatabase(stores.databaseUrl, 'spec');
  const store = new EventStore(bus);
  for (let n = 0; n < ACCOUNTS; n += 1) {
    const [accountId, commandId] = [newId(), newId()];
    const opened = { email: `${n}@example.org`, plan: 'free', signingSecretEncrypted: new Uint8Array([1]) };
    const created = { keyId: newId(), name: 'key', keyHash: Buffer.from(newId()), scope: 'read' };
    const decision = create(AccountDecisionSchema, {
      commandId,
      accountId,
      decidedAt: '2026-03-01T00:00:00.000Z',
      events: [
        { event: { case: 'accountOpened', value: opened } },
        { event: { case: 'apiKeyCreated', value: created } },
      ],
    });
    const [subject, data] = [subjectOf('ACCOUNTS', accountId), toBinary(AccountDecisionSchema, decision)];
    const seq = await store.append(subject, data, 0, commandId);
    await database.transaction((tx) =>
      applyInOrder(tx, accountsProjection, [{ subject, seq, data, predecessor: 0 }]),
    );
  }
});
afterAll(async () => {
  await bus?.close();
  await database?.destroy();
  await stores?.drop();
});

/** Runs `earshot projections …` as a separate process. */
async function cli(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [CLI, 'projections', ...args], {
    env: { ...programEnv(stores), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { code, signal, output };
}

const table = async (name: string) =>
  (
    await database.query<{ oid: number; rows: number }[]>(
      `SELECT '${name}'::regclass::oid::int AS oid, (SELECT count(*)::int FROM ${name}) AS rows`,
    )
  )[0];

/** Only locks of this database are counted, because other specs use other databases at the same time. */
const locksHeld = async () =>
  (
    await database.query<unknown[]>(
      `SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
       WHERE locktype = 'advisory' AND datname = current_database()`,
    )
  ).length;

describe('projections rebuild', () => {
  it.each(['rebuild-batch:1', 'rebuild-batch:2', 'rebuild-before-switch:1', 'rebuild-before-commit:1'])(
    'keeps the old tables if it is killed at %s, and the next run builds new tables',
    async (failpoint) => {
      const before = [await table('accounts'), await table('api_keys')];
      const killed = await cli(['rebuild', 'accounts-v1'], { EARSHOT_FAILPOINT: failpoint });
      expect(killed.signal).toBe('SIGKILL');
      expect([await table('accounts'), await table('api_keys')]).toEqual(before);

      // Postgres releases the dead process's lock when it notices that the connection is closed.
      await until('the lock is free', async () => (await locksHeld()) === 0);
      const { code, output } = await cli(['rebuild', 'accounts-v1']);
      expect([code, JSON.parse(output.trim().split('\n').at(-1) ?? '')]).toEqual([
        0,
        { name: 'accounts-v1', phase: 'done', applied: ACCOUNTS, total: ACCOUNTS, secondsLeft: 0 },
      ]);
      const after = await table('accounts');
      expect(after?.rows).toBe(ACCOUNTS);
      expect(after?.oid).not.toBe(before[0]?.oid);
      expect(await database.query(`SELECT 1 FROM pg_namespace WHERE nspname LIKE 'rebuild_%'`)).toEqual([]);
    },
    TWO_PROCESSES_MS,
  );

  it('refuses a projection whose tables contain data that the stream does not contain, and states the reason', async () => {
    const { code, output } = await cli(['rebuild', 'endpoints-v1']);
    expect(code).not.toBe(0);
    expect(output).toContain(
      'endpoints-v1 cannot be rebuilt: webhook_endpoints stores results of deliveries',
    );
  });

  it(
    'keeps every row of keywords and polling, with the columns whose values are in no stream',
    async () => {
      const [accountId, watchId, commandId] = [newId(), newId(), newId()];
      const watch = { watchId, source: 'hackernews', criteriaHash: 'hash', intervalSeconds: 600 };
      const decision = create(KeywordDecisionSchema, {
        commandId,
        accountId,
        subjectId: watchId,
        decidedAt: '2026-03-01T00:00:00.000Z',
        events: [{ event: { case: 'watchCreated', value: { watch, webhookUrl: '', analysis: false } } }],
      });
      const [subject, data] = [
        subjectOf('KEYWORDS', accountId, watchId),
        toBinary(KeywordDecisionSchema, decision),
      ];
      const seq = await new EventStore(bus).append(subject, data, 0, commandId);
      for (const projection of [keywordsProjection, scheduleProjection(() => 1)])
        await database.transaction((tx) =>
          applyInOrder(tx, projection, [{ subject, seq, data, predecessor: 0 }]),
        );
      await database.query(
        `UPDATE watch_schedule SET baseline_at = '2026-03-02', covered_until = '2026-03-03', check_seq = 7,
           due_second = second_of('2030-01-01'), failed_at = '2026-03-04'`,
      );
      await database.query(
        `UPDATE upstream_searches SET lane = 'hackernews:5', claim = gen_random_uuid(), leased_until = '2030-01-01',
           state = '{"etag": "x"}', state_at = '2026-03-03', failures = 3, next_due_at = '2030-01-01'`,
      );
      await database.query(`INSERT INTO seen_items VALUES ($1, 'item', '2026-03-03')`, [watchId]);
      await database.query(`UPDATE watches SET credits_per_check = 9, price_book_version = 'new'`);
      const tables = [
        'watch_schedule',
        'upstream_searches',
        'schedule_accounts',
        'seen_items',
        'watches',
        'keywords',
        'quoted_periods',
      ];
      const rows = () =>
        Promise.all(tables.map((name) => database.query<unknown[]>(`SELECT * FROM ${name}`)));
      const before = await rows();
      expect(before.map(({ length }) => length)).toEqual([1, 1, 1, 1, 1, 0, 1]);
      expect(await cli(['rebuild', 'keywords-v1', 'schedule-v1'])).toMatchObject({ code: 0 });
      expect(await rows()).toEqual(before);
    },
    TWO_PROCESSES_MS,
  );

  it(
    'replaces the tables of several projections, one after the other and each only once',
    async () => {
      const names = ['accounts-v1', 'keywords-v1', 'schedule-v1', 'replays-v1', 'labels-v1'];
      const { code, output } = await cli(['rebuild', ...names, 'labels-v1']);
      expect(code).toBe(0);
      const lines = output.trim().split('\n');
      const done = lines.map((line) => JSON.parse(line)).filter(({ phase }) => phase === 'done');
      expect(done.map(({ name }) => name)).toEqual(names);
    },
    TWO_PROCESSES_MS,
  );

  it('rebuilds nothing if one of the names does not exist', async () => {
    const before = await table('accounts');
    const { code, output } = await cli(['rebuild', 'accounts-v1', 'nothing']);
    expect(code).not.toBe(0);
    expect(output).toContain('There is no projection nothing; there are: accounts-v1, ');
    expect(await table('accounts')).toEqual(before);
  });
});
