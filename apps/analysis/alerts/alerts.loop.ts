import { Inject, Injectable } from '@nestjs/common';
import { Repeated, systemClock } from '#kernel';
import { DATABASE, LOG, type Loop } from '#platform';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import { COUNTED_DAYS, COUNTED_IDS_DAYS } from '../domain/counted-at.js';
import { ChecksProgress } from '../projection-progress.js';
import { AlertEvaluation } from './alert-evaluation.js';
import { claimTurns, finishTurns, postponeTurns } from './alert-turns.js';

const PAUSE_MS = 500;
const TURNS_PER_ROUND = 100;
const HOUR_MS = 3_600_000;
/** One statement deletes at most this many rows, so that it locks rows only for a moment. */
const ROWS_PER_STATEMENT = 5_000;

/** Tables whose old rows are deleted, and the number of days for which their rows are kept. */
const OLD_ROWS = [
  { table: 'mention_counts', column: 'bin', days: COUNTED_DAYS },
  { table: 'search_coverage', column: 'covered_to', days: COUNTED_DAYS },
  { table: 'counted_mentions', column: 'occurred_at', days: COUNTED_IDS_DAYS },
] as const;

/**
 * Evaluates the alerts of keywords that have new mentions, or an episode that can begin or end without new mentions. Also
 * deletes the rows of `OLD_ROWS`. Every replica does both.
 */
@Injectable()
export class AlertsLoop implements Loop {
  readonly name = 'alerts';
  private readonly rounds: Repeated;
  private readonly pruning: Repeated;

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly checks: ChecksProgress,
    private readonly evaluation: AlertEvaluation,
    @Inject(LOG) log: Logger,
  ) {
    this.rounds = new Repeated({
      pauseMs: PAUSE_MS,
      run: () => this.round(),
      failed: (error) =>
        log.error({ err: error }, 'alerts could not be evaluated; the evaluation is retried'),
    });
    this.pruning = new Repeated({
      pauseMs: HOUR_MS,
      run: () => this.prune(),
      failed: (error) => log.error({ err: error }, 'old counts could not be deleted'),
    });
  }

  start(): void {
    this.rounds.start();
    this.pruning.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.rounds.stop(), this.pruning.stop()]);
  }

  /** @returns true if more turns can be due already */
  async round(): Promise<boolean> {
    const turns = await claimTurns(this.database, TURNS_PER_ROUND);
    if (turns.length === 0) return false;
    const now = systemClock.now().getTime();
    // A turn is postponed, for at most a minute, until the covered times of earlier checks are stored. Without them, a
    // baseline would be too low or unknown.
    const coveredUpTo = await this.checks.upTo(now);
    const early = turns.filter(({ keywordId }) => coveredUpTo(keywordId) === undefined);
    await postponeTurns(this.database, early);
    const ready = turns.filter((turn) => !early.includes(turn));
    await finishTurns(this.database, await this.evaluation.evaluateTurns(ready, now));
    return turns.length === TURNS_PER_ROUND;
  }

  /** Deletes old rows. @returns true if there can be more rows to delete */
  async prune(): Promise<boolean> {
    let hasMore = false;
    for (const { table, column, days } of OLD_ROWS) {
      const [, deleted]: [unknown, number] = await this.database.query(
        `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM ${table} WHERE ${column} < now() - make_interval(days => $1) LIMIT $2))`,
        [days, ROWS_PER_STATEMENT],
      );
      hasMore ||= deleted === ROWS_PER_STATEMENT;
    }
    return hasMore;
  }
}
