import { Inject, Injectable } from '@nestjs/common';
import { Repeated } from '#kernel';
import { LOG, type Loop } from '#platform';
import type { Logger } from '#telemetry';
import { AttemptLimits } from './auth/attempt-limits.js';
import { AuditLog } from './auth/audit-log.js';
import { Idempotency } from './idempotency/idempotency.js';
import { Sessions } from './sessions/sessions.js';

const PAUSE_MS = 5 * 60_000;

/**
 * Deletes rows that the gateway keeps only for some time. The class that owns a table defines which rows are old. It
 * does not matter when old rows are deleted, because all other code ignores them.
 */
@Injectable()
export class OldRows implements Loop {
  readonly name = 'old-rows';
  private readonly owners: Readonly<Record<string, { deleteOld(): Promise<void> }>>;
  private readonly rounds = new Repeated({
    pauseMs: PAUSE_MS,
    run: () => this.round(),
    failed: (error) => this.log.error({ err: error }, 'old rows could not be deleted'),
  });

  constructor(
    attempts: AttemptLimits,
    auditLog: AuditLog,
    idempotency: Idempotency,
    sessions: Sessions,
    @Inject(LOG) private readonly log: Logger,
  ) {
    this.owners = { attempts, auditLog, idempotency, sessions };
  }

  start(): void {
    this.rounds.start();
  }

  stop(): Promise<void> {
    return this.rounds.stop();
  }

  /** Deletes the old rows of all tables. If a deletion fails, continues with the next table. */
  private async round(): Promise<void> {
    for (const [rows, owner] of Object.entries(this.owners))
      await owner
        .deleteOld()
        .catch((error: unknown) => this.log.warn({ err: error, rows }, 'old rows could not be deleted'));
  }
}
