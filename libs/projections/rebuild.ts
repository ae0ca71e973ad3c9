import { setTimeout as wait } from 'node:timers/promises';
import type { StoredMsg } from '@nats-io/jetstream';
import { failpoint } from '#kernel';
import { batchesOf, type Bus } from '#messaging';
import type { Database, Tx } from '#postgres';
import {
  createTablesBeside,
  keepFromLive,
  lockLiveTables,
  schemaBeside,
  switchTables,
  useTablesBeside,
} from './beside-tables.js';
import { applyInOrder, positionsOf, type Projection, type Rebuildable } from './projection.js';

/** An arbitrary constant. Together with the projection's name it identifies the lock of a rebuild. */
const REBUILD_LOCK = 7_210_419;
/**
 * How long the rebuild waits for a lock. This is shorter than the default of Postgres' `deadlock_timeout`: if two
 * transactions wait for each other, the rebuild gives up first.
 */
const LOCK_WITHIN_MS = 500;
const SWITCH_WITHIN_MS = 120_000;
const AGAIN_MS = 100;
/** If the live tables make no progress for this time, the messages that they lack are applied during the switch. */
const STALLED_AFTER_MS = 5000;
const LOCK_NOT_AVAILABLE = '55P03';
const DISK_FULL = '53100';

/** The progress of a rebuild. */
export interface RebuildProgress {
  phase: 'build' | 'switch' | 'done';
  /** Number of messages that were applied. The messages that the switch applies are counted when it has ended. */
  applied: number;
  /** Estimate of the number of messages to apply: the number of messages in the stream. */
  total: number;
  /** Estimated remaining time; undefined before the first message was applied. */
  secondsLeft: number | undefined;
}

/** Another process is rebuilding the same projection. */
export class RebuildUnderWay extends Error {
  constructor(name: string) {
    super(`${name} is already being rebuilt by another process; wait until it is done.`);
  }
}

/** A projection whose tables can be rebuilt. */
export type RebuildableProjection = Projection & { rebuild: Rebuildable };

/**
 * Rebuilds the tables of a projection from its stream in a separate schema. The live tables serve reads and commands
 * meanwhile. Then one transaction exchanges the tables. Before the commit of this transaction, the rebuild changes
 * nothing in the live tables.
 * @returns the last progress
 * @throws RebuildUnderWay
 * @throws Error with the reason if a table cannot be exchanged, if a message cannot be applied, if the disk is full, or
 *   if the tables are in use for 2 minutes without a gap; any other error of Postgres or NATS unchanged
 */
export async function rebuildProjection(
  database: Database,
  bus: Bus,
  projection: RebuildableProjection,
  onProgress: (progress: RebuildProgress) => void = () => undefined,
): Promise<RebuildProgress> {
  // One connection for the lock and all work: a process that loses the lock cannot continue.
  const runner = database.createQueryRunner();
  try {
    await runner.query('SET statement_timeout = 0');
    const [lock] = (await runner.query('SELECT pg_try_advisory_lock($1, hashtext($2)) AS held', [
      REBUILD_LOCK,
      projection.name,
    ])) as { held: boolean }[];
    if (!lock?.held) throw new RebuildUnderWay(projection.name);
    const inTransaction = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
      await runner.startTransaction();
      try {
        const result = await work(runner.manager);
        await runner.commitTransaction();
        return result;
      } catch (error) {
        await runner.rollbackTransaction().catch(() => undefined);
        throw error;
      }
    };
    try {
      return await new Rebuild(bus, projection, inTransaction, onProgress).run();
    } catch (error) {
      await runner.query(`DROP SCHEMA IF EXISTS ${schemaBeside(projection)} CASCADE`).catch(() => undefined);
      throw explained(error, projection);
    } finally {
      const unlock = 'SELECT pg_advisory_unlock($1, hashtext($2))';
      await runner.query(unlock, [REBUILD_LOCK, projection.name]).catch(() => undefined);
    }
  } finally {
    await runner.query('RESET statement_timeout').catch(() => undefined);
    await runner.release();
  }
}

function explained(error: unknown, { name }: Projection): unknown {
  if ((error as { code?: string }).code !== DISK_FULL) return error;
  return new Error(
    `Postgres has no room for a second copy of the tables of ${name}: ${(error as Error).message}. ` +
      'The old tables are unchanged. Free some space, and rebuild again.',
    { cause: error },
  );
}

class Rebuild {
  private readonly schema: string;
  private readonly parts: Rebuildable;
  private readonly startedAt = Date.now();
  private live = 'public';
  /** The sequence from which the next read of the stream begins. */
  private next = 1;
  private applied = 0;
  private total = 0;

  constructor(
    private readonly bus: Bus,
    private readonly projection: RebuildableProjection,
    private readonly inTransaction: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>,
    private readonly onProgress: (progress: RebuildProgress) => void,
  ) {
    this.schema = schemaBeside(projection);
    this.parts = projection.rebuild;
  }

  async run(): Promise<RebuildProgress> {
    await this.inTransaction(async (tx) => {
      const [row] = await tx.query<{ schema: string }[]>('SELECT current_schema() AS schema');
      this.live = row?.schema ?? this.live;
      await createTablesBeside(tx, this.projection, this.parts);
    });
    await this.catchUpWithLive();
    failpoint('rebuild-before-switch');
    // Without statistics, Postgres would plan the first queries for empty tables.
    for (const table of this.parts.tables)
      await this.inTransaction((tx) => tx.query(`ANALYZE ${this.schema}.${table}`));
    for (const deadline = Date.now() + SWITCH_WITHIN_MS; ;) {
      try {
        await this.report('switch');
        this.applied += await this.inTransaction((tx) => this.switchOver(tx));
        break;
      } catch (error) {
        if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
        if (Date.now() > deadline)
          throw new Error(
            `The tables of ${this.projection.name} were in use without a gap for ${SWITCH_WITHIN_MS / 1000} s. The old tables are ` +
              'unchanged. Look for a long transaction in pg_stat_activity, and rebuild again.',
            { cause: error },
          );
        await wait(AGAIN_MS + Math.random() * AGAIN_MS);
        await this.follow();
      }
    }
    this.total = Math.max(this.total, this.applied);
    return this.progress('done');
  }

  /** Applies messages until the end of the stream is reached, or the live tables make no progress for 5 s. */
  private async catchUpWithLive(): Promise<void> {
    for (let movedAt = Date.now(); ;) {
      const before = this.next;
      if (await this.follow()) return;
      if (this.next > before) movedAt = Date.now();
      if (Date.now() - movedAt > STALLED_AFTER_MS) return;
      await wait(AGAIN_MS);
    }
  }

  /**
   * Applies the messages that the live tables have applied, in the order of the stream. It never applies more: at the
   * switch, old and new tables must be at the same message, so that data copied from the live rows matches the new
   * rows.
   * @returns whether the end of the stream was reached
   */
  private async follow(): Promise<boolean> {
    for await (const batch of this.messages()) {
      const done = await this.inTransaction(async (tx) => {
        const ahead = await this.notInLive(tx, batch);
        const end = batch.findIndex((message) => ahead.has(message));
        const known = end === -1 ? batch : batch.slice(0, end);
        await useTablesBeside(tx, this.schema);
        for (const message of known) await this.apply(tx, message);
        return known;
      });
      // Counted only after the commit, because a batch that was rolled back is applied again.
      this.applied += done.length;
      this.next = (done.at(-1)?.seq ?? this.next - 1) + 1;
      failpoint('rebuild-batch');
      await this.report('build');
      if (done.length < batch.length) return false;
    }
    return true;
  }

  /** @returns the number of messages that were applied */
  private async switchOver(tx: Tx): Promise<number> {
    const { tables, untouched = [] } = this.parts;
    await lockLiveTables(tx, tables, LOCK_WITHIN_MS);
    const left: StoredMsg[] = [];
    // While this transaction locks the tables, no request is repeated: everything that reads them waits.
    for await (const batch of this.messages((request) => request())) left.push(...batch);
    const ahead = await this.notInLive(tx, left);
    const purged = await this.purged(tx);
    await useTablesBeside(tx, this.schema);
    for (const message of left) if (!ahead.has(message)) await this.apply(tx, message);
    if (purged.length > 0)
      await tx.query('DELETE FROM projection_positions WHERE subject = ANY ($1)', [purged]);
    // Old and new tables are now at the same message.
    await keepFromLive(tx, this.live, this.schema, this.parts);
    // The messages that the live tables lack are also new to the untouched tables.
    for (const table of untouched) await tx.query(`DROP TABLE ${this.schema}.${table}`);
    for (const message of ahead) await this.apply(tx, message);
    // Deletes purged data last, because the messages above can belong to a subject that is being purged.
    await this.parts.forget?.(tx, purged);
    await switchTables(tx, this.live, this.projection, this.parts);
    failpoint('rebuild-before-commit');
    return left.length;
  }

  private messages(ask?: <T>(request: () => Promise<T>) => Promise<T>): AsyncGenerator<StoredMsg[]> {
    const { stream, subjects } = this.projection;
    return batchesOf(this.bus, stream, this.next, subjects, ask);
  }

  /** Returns the messages that the live tables have not applied. */
  private async notInLive(tx: Tx, messages: readonly StoredMsg[]): Promise<Set<StoredMsg>> {
    const subjects = [...new Set(messages.map(({ subject }) => subject))];
    const positions = await positionsOf(tx, this.projection.name, subjects);
    return new Set(messages.filter(({ subject, seq }) => seq > (positions.get(subject) ?? 0)));
  }

  /** Returns the subjects that have a position of the new tables, but no position of the live tables any more. */
  private async purged(tx: Tx): Promise<string[]> {
    const rows: { subject: string }[] = await tx.query(
      `SELECT subject FROM ${this.schema}.projection_positions f WHERE NOT EXISTS (SELECT 1 FROM projection_positions p
         WHERE p.projection = f.projection AND p.subject = f.subject)`,
    );
    return rows.map(({ subject }) => subject);
  }

  /** Applies a message to the new tables. @throws Error that names the message if it cannot be applied */
  private async apply(tx: Tx, { subject, seq, data }: StoredMsg): Promise<void> {
    try {
      // The batch follows the stream's order, so a predecessor that was not applied is no longer in the stream.
      await applyInOrder(tx, this.projection, [{ subject, seq, data, predecessor: 0 }]);
    } catch (error) {
      // `run` repeats the switch if it has waited too long for a lock, also if a message needed the lock.
      const { code } = error as { code?: string };
      if (code === DISK_FULL || code === LOCK_NOT_AVAILABLE) throw error;
      throw new Error(
        `Message ${seq} of ${this.projection.stream} (${subject}) cannot be applied to ${this.projection.name}: ` +
          `${error instanceof Error ? error.message : String(error)}. The old tables are unchanged.`,
        { cause: error },
      );
    }
  }

  private async report(phase: RebuildProgress['phase']): Promise<void> {
    const { state } = await this.bus.jsm.streams.info(this.projection.stream);
    this.total = Math.max(state.messages, this.applied);
    this.progress(phase);
  }

  /** Reports without a request to NATS, so that an outage after the switch is not reported as a failed rebuild. */
  private progress(phase: RebuildProgress['phase']): RebuildProgress {
    const seconds = (Date.now() - this.startedAt) / 1000;
    const secondsLeft =
      this.applied === 0 ? undefined : Math.round(((this.total - this.applied) * seconds) / this.applied);
    const progress = { phase, applied: this.applied, total: this.total, secondsLeft };
    this.onProgress(progress);
    return progress;
  }
}
