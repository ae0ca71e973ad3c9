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
 * Deletes rows that the gateway keeps only for some time. The owner of each table defines which rows are old. The time of
 * their deletion does not matter: all other code ignores old rows, except that the audit log shows its old entries until
 * they are deleted.
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

  /** If one table fails, the other tables are still cleaned. */
  private async round(): Promise<void> {
    for (const [rows, owner] of Object.entries(this.owners))
      await owner
        .deleteOld()
        .catch((error: unknown) => this.log.warn({ err: error, rows }, 'old rows could not be deleted'));
  }
}
