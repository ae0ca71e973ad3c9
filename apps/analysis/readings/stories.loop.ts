import { Inject, Injectable } from '@nestjs/common';
import { Repeated } from '#kernel';
import { DATABASE, LOG, type Loop } from '#platform';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';

const HOUR_MS = 3_600_000;
/**
 * How long a key of a story (a hash of a link or of a text) is kept after it was found. An item of which no key is kept
 * is not a repetition, and its story id is computed from its first key.
 */
const KEPT_DAYS = 30;
/** One statement deletes at most this many rows, so that it locks rows only for a moment. */
const ROWS_PER_STATEMENT = 5_000;

/** Deletes old keys of stories. */
@Injectable()
export class StoriesLoop implements Loop {
  readonly name = 'stories';
  private readonly work: Repeated;

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(LOG) log: Logger,
  ) {
    this.work = new Repeated({
      pauseMs: HOUR_MS,
      run: () => this.prune(),
      failed: (error) => log.error({ err: error }, 'old stories could not be deleted'),
    });
  }

  start(): void {
    this.work.start();
  }

  stop(): Promise<void> {
    return this.work.stop();
  }

  /** Deletes old rows. @returns true if there can be more rows to delete */
  async prune(): Promise<boolean> {
    const [, deleted]: [unknown, number] = await this.database.query(
      `DELETE FROM stories WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM stories WHERE told_at < now() - make_interval(days => $1) LIMIT $2))`,
      [KEPT_DAYS, ROWS_PER_STATEMENT],
    );
    return deleted === ROWS_PER_STATEMENT;
  }
}
