import { newId } from '#kernel';
import type { Database } from '#postgres';
import { SecretBox } from '#secrets';
import { createLogger } from '#telemetry';
import { type SpecDatabase, openSpecDatabase, until } from '#testing';
import { AttemptLimits } from './auth/attempt-limits.js';
import { AuditLog } from './auth/audit-log.js';
import { Idempotency } from './idempotency/idempotency.js';
import { OldRows } from './old-rows.loop.js';
import { Sessions } from './sessions/sessions.js';

const log = createLogger('spec', 'silent');
const TABLES = ['auth_attempts', 'audit_log', 'idempotency_records', 'sessions'];

let spec: SpecDatabase;
let database: Database;

beforeAll(async () => {
  spec = await openSpecDatabase();
  ({ database } = spec);
});
afterAll(() => spec?.drop());
beforeEach(async () => {
  for (const table of TABLES) await database.query(`DELETE FROM ${table}`);
  const [accountId, memberId] = [newId(), newId()];
  await database.query(
    `INSERT INTO members (member_id, account_id, email, role, password_hash, password_version, joined_at)
     VALUES ($1, $2, $3, 'owner', '', 1, now())`,
    [memberId, accountId, `${memberId}@example.org`],
  );
  for (const [isOld, age] of [
    [true, '400 days'],
    [false, '1 minute'],
  ] as const) {
    const at = `now() - interval '${age}'`;
    await database.query(`INSERT INTO auth_attempts (attempt_id, subject, at) VALUES ($1, '\\x01', ${at})`, [
      newId(),
    ]);
    await database.query(
      `INSERT INTO audit_log (entry_id, account_id, at, by_kind, by_id, method, route, path, body_keys, request_id,
         network_address) VALUES ($1, $2, ${at}, 'key', $1, 'POST', '/', '/', '{}', '', '')`,
      [newId(), accountId],
    );
    await database.query(
      `INSERT INTO idempotency_records (account_id, key, request_hash, command_id, runner, created_at, expires_at)
       VALUES ($1, $2, '', $3, $3, ${at}, ${at} + interval '24 hours')`,
      [accountId, age, newId()],
    );
    await database.query(
      `INSERT INTO sessions (session_id, token_hash, member_id, password_version, expires_at, user_agent, network_address)
       VALUES ($1, $2, $3, 1, now() + $4::interval, '', '')`,
      [newId(), Buffer.from(age), memberId, isOld ? '-1 minute' : '1 day'],
    );
  }
});

const rowCounts = async () =>
  Promise.all(
    TABLES.map(async (table) => {
      const rows: unknown[] = await database.query(`SELECT 1 FROM ${table}`);
      return rows.length;
    }),
  );

function loopWith(attempts: Pick<AttemptLimits, 'deleteOld'>): OldRows {
  const idempotency = new Idempotency(database, log, new SecretBox('5e'.repeat(32)));
  const sessions = new Sessions(database);
  return new OldRows(attempts as AttemptLimits, new AuditLog(database, log), idempotency, sessions, log);
}

describe('the loop that deletes old rows', () => {
  it('deletes the old rows of each table, and keeps the other rows', async () => {
    const loop = loopWith(new AttemptLimits(database, log));
    loop.start();
    await until('the old rows are gone', async () => (await rowCounts()).every((count) => count === 1));
    await loop.stop();
    expect(await rowCounts()).toEqual([1, 1, 1, 1]);
  });

  it('deletes more rows than one statement deletes', async () => {
    await database.query(
      `INSERT INTO auth_attempts (attempt_id, subject, at)
       SELECT gen_random_uuid(), '\\x02', now() - interval '2 days' FROM generate_series(1, 10001)`,
    );
    const loop = loopWith(new AttemptLimits(database, log));
    loop.start();
    await until('the old rows are gone', async () => (await rowCounts()).every((count) => count === 1));
    await loop.stop();
  });

  it('continues with the next table when the deletion in one table fails', async () => {
    const loop = loopWith({ deleteOld: () => Promise.reject(new Error('gone')) });
    loop.start();
    await until('the other tables contain no old rows', async () =>
      (await rowCounts()).slice(1).every((count) => count === 1),
    );
    await loop.stop();
    expect(await rowCounts()).toEqual([2, 1, 1, 1]);
  });
});
