import 'reflect-metadata';
import { DataSource, type EntityManager } from 'typeorm';
import { AccountEntity, ApiKeyEntity } from './entities/account.entity.js';
import { KeywordEntity, WatchEntity } from './entities/keyword.entity.js';
import { First1763600000000 } from './migrations/1763600000000-first.js';
import { UpstreamHealth1763700000000 } from './migrations/1763700000000-upstream-health.js';
import { KeywordLife1763800000000 } from './migrations/1763800000000-keyword-life.js';
import { Credits1763810000000 } from './migrations/1763810000000-credits.js';
import { Requests1763820000000 } from './migrations/1763820000000-requests.js';
import { Claims1763830000000 } from './migrations/1763830000000-claims.js';
import { Signatures1763840000000 } from './migrations/1763840000000-signatures.js';
import { Targets1763850000000 } from './migrations/1763850000000-targets.js';
import { AccountSettings1763860000000 } from './migrations/1763860000000-account-settings.js';
import { Labels1763870000000 } from './migrations/1763870000000-labels.js';
import { KeyUses1763880000000 } from './migrations/1763880000000-key-uses.js';
import { ProjectionVersions1763890000000 } from './migrations/1763890000000-projection-versions.js';
import { Traces1763895000000 } from './migrations/1763895000000-traces.js';
import { CompactSchedule1763900000000 } from './migrations/1763900000000-compact-schedule.js';
import { Readings1763910000000 } from './migrations/1763910000000-readings.js';
import { SemanticQuestions1763920000000 } from './migrations/1763920000000-semantic-questions.js';
import { Explores1763920000000 } from './migrations/1763920000000-explores.js';
import { WaitingReadings1763930000000 } from './migrations/1763930000000-waiting-readings.js';
import { Rules1763941000000 } from './migrations/1763941000000-rules.js';
import { Alerts1763950000000 } from './migrations/1763950000000-alerts.js';
import { Channels1763960000000 } from './migrations/1763960000000-channels.js';
import { Digests1763970000000 } from './migrations/1763970000000-digests.js';
import { Feeds1763971000000 } from './migrations/1763971000000-feeds.js';
import { Members1763980000000 } from './migrations/1763980000000-members.js';
import { Sessions1763981000000 } from './migrations/1763981000000-sessions.js';
import { AuditLog1763985000000 } from './migrations/1763985000000-audit-log.js';
import { Views1763990000000 } from './migrations/1763990000000-views.js';
import { McpSpending1763995000000 } from './migrations/1763995000000-mcp-spending.js';
import { MailLane1763996000000 } from './migrations/1763996000000-mail-lane.js';
import { EndpointPauses1763996100000 } from './migrations/1763996100000-endpoint-pauses.js';
import { McpLimits1763996150000 } from './migrations/1763996150000-mcp-limits.js';
import { ExploreTerms1763996200000 } from './migrations/1763996200000-explore-terms.js';
import { ReportKey1763997000000 } from './migrations/1763997000000-report-key.js';
import { LlmLane1763999000000 } from './migrations/1763999000000-llm-lane.js';
import { FirstAttempts1763999100000 } from './migrations/1763999100000-first-attempts.js';
import { NextLlmTurn1763999200000 } from './migrations/1763999200000-next-llm-turn.js';
import { NumberedSchedule1764000000000 } from './migrations/1764000000000-numbered-schedule.js';
import { Reservations1764100000000 } from './migrations/1764100000000-reservations.js';
import { ReservationStreams1764200000000 } from './migrations/1764200000000-reservation-streams.js';
import { ChannelOrder1764300000000 } from './migrations/1764300000000-channel-order.js';
import { NoDueIndex1764400000000 } from './migrations/1764400000000-no-due-index.js';
import { LastDigests1764410000000 } from './migrations/1764410000000-last-digests.js';
import { ClaimedAt1764420000000 } from './migrations/1764420000000-claimed-at.js';
import { DueDeliveries1764430000000 } from './migrations/1764430000000-due-deliveries.js';
import { pgDriver } from './outage-pool.js';

/** A service's connections to Postgres. */
export type Database = DataSource;
/** A transaction, or the database outside of one. */
export type Tx = EntityManager;

/** An arbitrary constant: the lock that allows only one service at a time to migrate the tables. */
const MIGRATION_LOCK = 7_210_418;

/**
 * Maximum time of a statement. No correct query takes nearly as long. A query that takes this long waits for a lock
 * that is never released, or is a mistake.
 */
const STATEMENT_WITHIN_MS = 60_000;
/**
 * Postgres ends a transaction that sends no statement for this time, because its process is probably frozen and would
 * keep the locks until it continues. Intended pauses are shorter: an append to a stream that does not answer fails
 * after 15 s.
 */
const IDLE_IN_TRANSACTION_MS = 180_000;
const KEEP_ALIVE_SECONDS = 30;
/** Server setting: the locks of a session whose host is lost are released within a minute, not after hours. */
const SERVER_KEEP_ALIVE = `-c tcp_keepalives_idle=${KEEP_ALIVE_SECONDS} -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3`;

/**
 * All migrations, in their order. A release ignores the migrations of newer releases, so that it works with their tables:
 * beside their replicas during an upgrade, or after a return to this release. A migration that older releases cannot
 * work with has a name that begins with `INCOMPATIBLE`: from then on, older releases do not start.
 */
const MIGRATIONS = [
  First1763600000000,
  UpstreamHealth1763700000000,
  KeywordLife1763800000000,
  Credits1763810000000,
  Requests1763820000000,
  Claims1763830000000,
  Signatures1763840000000,
  Targets1763850000000,
  AccountSettings1763860000000,
  Labels1763870000000,
  KeyUses1763880000000,
  ProjectionVersions1763890000000,
  Traces1763895000000,
  CompactSchedule1763900000000,
  Readings1763910000000,
  SemanticQuestions1763920000000,
  Explores1763920000000,
  WaitingReadings1763930000000,
  Rules1763941000000,
  Alerts1763950000000,
  Channels1763960000000,
  Digests1763970000000,
  Feeds1763971000000,
  Members1763980000000,
  Sessions1763981000000,
  AuditLog1763985000000,
  Views1763990000000,
  McpSpending1763995000000,
  MailLane1763996000000,
  EndpointPauses1763996100000,
  McpLimits1763996150000,
  ExploreTerms1763996200000,
  ReportKey1763997000000,
  LlmLane1763999000000,
  FirstAttempts1763999100000,
  NextLlmTurn1763999200000,
  NumberedSchedule1764000000000,
  Reservations1764100000000,
  ReservationStreams1764200000000,
  ChannelOrder1764300000000,
  NoDueIndex1764400000000,
  LastDigests1764410000000,
  ClaimedAt1764420000000,
  DueDeliveries1764430000000,
];

const INCOMPATIBLE = 'Incompatible';

/** How a service uses Postgres. */
interface Options {
  /** Maximum time of one statement; a longer statement fails with 57014. */
  statementMs: number;
  /** A transaction that sends no statement for longer than this time ends and fails. */
  idleInTransactionMs: number;
  /**
   * Maximum time of opening a connection, and of the wait for one of the pool. Default: no limit, because a service waits
   * for a store that starts slowly.
   */
  connectMs: number;
  /** False: the tables must exist, and are not changed. For programs that must not prepare a database, such as the command line. */
  migrates: boolean;
}

/**
 * Connects and migrates the tables. Services that start at the same time wait for each other.
 * @param url `postgres://user:password@host:port/database`
 * @param name the name of the service, shown by Postgres
 * @param poolSize maximum number of connections
 * @throws Outage if Postgres cannot be reached, or does not answer within `connectMs`; the error of Postgres if a
 *   migration fails; Error if this release cannot work with the tables of a newer one, or if the tables are not ready
 *   and `migrates` is false
 */
export async function openDatabase(
  url: string,
  name: string,
  poolSize = 8,
  {
    statementMs = STATEMENT_WITHIN_MS,
    idleInTransactionMs = IDLE_IN_TRANSACTION_MS,
    connectMs,
    migrates = true,
  }: Partial<Options> = {},
): Promise<Database> {
  if (migrates) await migrate(url, name, connectMs);
  const database = new DataSource({
    type: 'postgres',
    driver: pgDriver,
    url,
    applicationName: `earshot-${name}`,
    entities: [AccountEntity, ApiKeyEntity, KeywordEntity, WatchEntity],
    // Postgres sends bigint as text. A sequence fits into a double, so it is parsed as a number.
    parseInt8: true,
    poolSize,
    connectTimeoutMS: connectMs,
    extra: {
      statement_timeout: statementMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_SECONDS * 1000,
      // This setting is in `options`, because a separate parameter would need another entry in PgBouncer's
      // `ignore_startup_parameters`.
      options: `${SERVER_KEEP_ALIVE} -c idle_in_transaction_session_timeout=${idleInTransactionMs}`,
    },
  });
  await database.initialize();
  if (!migrates)
    try {
      await requireTables(database);
    } catch (error) {
      await database.destroy();
      throw error;
    }
  return database;
}

/** @throws Error that says what to do if the tables do not exist, or are older than this release */
async function requireTables(database: Database): Promise<void> {
  const [table] = await database.query<{ exists: boolean }[]>(
    `SELECT to_regclass('migrations') IS NOT NULL AND to_regclass('accounts') IS NOT NULL AS exists`,
  );
  if (!table?.exists)
    throw new Error(
      'this database has no tables of Earshot; check its address, and start Earshot before this command',
    );
  const rows = await database.query<{ name: string }[]>('SELECT name FROM migrations');
  const done = new Set(rows.map((row) => row.name));
  if (!MIGRATIONS.every(({ name }) => done.has(name)))
    throw new Error(
      'the tables are older than this command line; start the services of the same release first, which change the tables',
    );
  await requireCompatible(database);
}

/** @throws Error that says what to do if a newer release has changed the tables so that this release cannot use them */
async function requireCompatible(database: Database): Promise<void> {
  const [table] = await database.query<{ exists: boolean }[]>(
    `SELECT to_regclass('migrations') IS NOT NULL AS exists`,
  );
  if (!table?.exists) return;
  const [newer] = await database.query<{ name: string }[]>(
    'SELECT name FROM migrations WHERE starts_with(name, $1) AND name <> ALL($2) ORDER BY id LIMIT 1',
    [INCOMPATIBLE, MIGRATIONS.map(({ name }) => name)],
  );
  if (newer)
    throw new Error(
      `a newer release has changed the tables (${newer.name}), and this release cannot work with them; start the newer release, or restore the backup from before the upgrade`,
    );
}

/**
 * Uses separate connections without a time limit: changing a large table takes long, and so does waiting for that
 * change.
 */
async function migrate(url: string, name: string, connectMs: number | undefined): Promise<void> {
  const database = new DataSource({
    type: 'postgres',
    driver: pgDriver,
    url,
    applicationName: `earshot-${name}`,
    migrations: MIGRATIONS,
    migrationsTransactionMode: 'each',
    parseInt8: true,
    // One connection keeps the lock while the other changes the tables.
    poolSize: 2,
    connectTimeoutMS: connectMs,
  });
  await database.initialize();
  try {
    const lock = database.createQueryRunner();
    try {
      await lock.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
      await requireCompatible(database);
      await database.runMigrations();
    } finally {
      await lock.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
      await lock.release();
    }
  } finally {
    await database.destroy();
  }
}

/** Runs a transaction whose statements have no time limit: for deletes of large amounts of data. */
export function transactionWithoutLimit<T>(database: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  return database.transaction(async (tx) => {
    await tx.query('SET LOCAL statement_timeout = 0');
    return work(tx);
  });
}

/** Locks the account until the transaction ends, so that commands of one account are decided one after another. */
export async function lockAccount(tx: Tx, accountId: string): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [accountId]);
}
