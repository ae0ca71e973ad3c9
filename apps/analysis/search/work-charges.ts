import { Inject, Injectable } from '@nestjs/common';
import { publishPaidWork, release, reserve, type PaidWork } from '#credits';
import type { EventStore } from '#event-store';
import { newId, Refusal } from '#kernel';
import { DATABASE, LOG, STORE } from '#platform';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';

/** Reserves the credits of work before it begins, and appends the fact from which its charge is derived. */
@Injectable()
export class WorkCharges {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /**
   * Reserves the credits.
   * @returns the holder, which can release the reservation. If the same work is requested again before it ends, neither
   *   request can release the reservation, because the other request needs it. Then the credits are charged, or the
   *   reservation expires
   * @throws Refusal `not-covered` if the credits are missing, `unavailable` while the account has no ledger
   */
  async reserve(accountId: string, id: string, credits: number, lifetimeSeconds: number): Promise<string> {
    const holder = newId();
    const reservation = { reservationId: id, accountId, credits, lifetimeSeconds, holder, isShared: true };
    const { shortages, unopened } = await reserve(this.database, [reservation]);
    if (unopened.has(id)) throw Refusal.unavailable('the account’s ledger is not open yet; try again');
    const shortage = shortages.get(id);
    if (shortage) throw Refusal.insufficientCredits(shortage.needed, shortage.available);
    return holder;
  }

  /** Releases the credits of work that failed. */
  release(id: string, holder: string): Promise<void> {
    return release(this.database, [{ reservationId: id, holder }]);
  }

  /** Publishes the fact from which billing computes the charge of finished work. */
  charge(work: Omit<PaidWork, 'outcome'>): Promise<void> {
    const { database, store, log } = this;
    return publishPaidWork({ database, store, log }, { ...work, outcome: 'found' });
  }
}
