import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromEngineError } from './clickhouse-exception.js';
import { engineOptions } from './engine-config.js';
import { Engine } from './engine.js';

// This spec does not use the checks of the bridge: it tests what chDB itself refuses. The only user of chDB has few
// rights.

const directory = mkdtempSync(join(tmpdir(), 'engine-'));
const secret = join(directory, 'secret.tsv');
const written = join(directory, 'written');
const context = { settings: new Map(), parameters: new Map(), isReadOnly: false };
let engine: Engine;
let server: Server;
let requests = 0;

beforeAll(async () => {
  writeFileSync(secret, 'a secret\n');
  server = createServer((_, response) => {
    requests += 1;
    response.end('a\n');
  }).listen(0, '127.0.0.1');
  engine = await Engine.open(join(directory, 'store'), engineOptions(directory));
});

afterAll(() => {
  server.close();
  engine.close();
  rmSync(directory, { recursive: true, force: true });
});

async function run(sql: string): Promise<string> {
  const { bytes } = await engine.use(context, new AbortController().signal, (connection) =>
    connection.all(sql, 'TabSeparated'),
  );
  return Buffer.from(bytes).toString();
}

const web = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

describe('the engine', () => {
  it('supports the kinds of statements that the services use', async () => {
    await run('CREATE DATABASE IF NOT EXISTS d');
    await run('CREATE TABLE d.t (n UInt8) ENGINE = ReplacingMergeTree ORDER BY n');
    await run('INSERT INTO d.t SELECT number FROM numbers(3)');
    await run('ALTER TABLE d.t ADD COLUMN IF NOT EXISTS m UInt8, MODIFY SETTING old_parts_lifetime = 10');
    await run('ALTER TABLE d.t DELETE WHERE n = 1 SETTINGS mutations_sync = 2');
    await run('OPTIMIZE TABLE d.t FINAL');
    await run('RENAME TABLE d.t TO d.u');
    expect(await run('SELECT n FROM d.u FINAL ORDER BY n')).toBe('0\n2\n');
    await run('DROP DATABASE d');
  });

  it.each([
    () => `SELECT * FROM file('${secret}', LineAsString)`,
    () => `SELECT * FROM '${secret}'`,
    () => `SELECT * FROM \`${secret}\``,
    () => `SELECT * FROM filesystem('${directory}')`,
    () => `INSERT INTO FUNCTION file('${written}', TSV, 'x String') VALUES ('a')`,
    () => `CREATE TABLE f (x String) ENGINE = File(TSV, '${secret}')`,
    () => `CREATE DATABASE f ENGINE = Filesystem('${directory}')`,
    () => `BACKUP DATABASE default TO File('${written}')`,
    () => `SELECT 1 SETTINGS format_schema = '${secret}:M'`,
    () => `SELECT 1 SETTINGS input_format_record_errors_file_path = '${written}'`,
    () => `SELECT * FROM url('${web()}', LineAsString)`,
    () => `CREATE TABLE f (x String) ENGINE = URL('${web()}', TSV)`,
    () => `SELECT * FROM remote('127.0.0.1', system.one)`,
    () => `SELECT * FROM mysql('127.0.0.1:1', 'a', 'b', 'c', 'd')`,
    () => `SELECT * FROM postgresql('127.0.0.1:1', 'a', 'b', 'c', 'd')`,
    () => `SELECT * FROM mongodb('127.0.0.1:1', 'a', 'b', 'c', 'd', 'x String')`,
    () =>
      `CREATE DICTIONARY f (k UInt64) PRIMARY KEY k SOURCE(FILE(path '${secret}' format TSV)) LAYOUT(FLAT())`,
    () => 'CREATE FUNCTION f AS x -> x',
    () => `SET dialect = 'kusto'`,
    () => 'CREATE USER bob',
    () => 'GRANT FILE ON *.* TO default',
    () => 'SYSTEM SHUTDOWN',
    () => 'ALTER TABLE t FREEZE',
  ])('refuses %s', async (sql) => {
    const failure = await run(sql()).then(
      (rows) => `was done: ${rows}`,
      (error: unknown) => fromEngineError(error).code,
    );
    // 497 ACCESS_DENIED, 452 SETTING_CONSTRAINT_VIOLATION
    expect([497, 452]).toContain(failure);
    expect(existsSync(written)).toBe(false);
    expect(requests).toBe(0);
  });

  it('does not evaluate expressions in the values of an insert', async () => {
    await run('CREATE TABLE v (x String) ENGINE = Memory');
    await expect(run(`INSERT INTO v VALUES (file('${secret}'))`)).rejects.toThrow();
    expect(await run('SELECT count() FROM v')).toBe('0\n');
  });
});
