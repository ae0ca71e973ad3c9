import { create, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { LookupSchema, PRICE_BOOK_VERSION } from '#contracts';
import { keepUntilCharged, release, releaseCharged, reserve } from '#credits';
import type { EventStore } from '#event-store';
import { isoOf, newId, Refusal, systemClock } from '#kernel';
import { subjectOf } from '#messaging';
import { DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';

/** Finished work that costs credits: a semantic question or an analysis. */
export type PaidWork = Pick<
  Exclude<MessageInitShape<typeof LookupSchema>, { $typeName: string }>,
  'questionJson' | 'found'
> & {
  /** The id of the fact and of its reservation. Work with the same id is charged only once. */
  id: string;
  accountId: string;
  operation: string;
  costCredits: number;
};

/** Reserves the credits of work before it begins, and appends the fact from which its charge is derived. */
@Injectable()
export class WorkCharges {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
  ) {}

  /**
   * Reserves the credits.
   * @returns the holder of the reservation. If the same work is requested again meanwhile, the reservation gets another
   *   holder
   * @throws Refusal `not-covered` if the credits are missing, `unavailable` while the account has no ledger
   */
  async reserve(accountId: string, id: string, credits: number, lifetimeSeconds: number): Promise<string> {
    const holder = newId();
    const reservation = { reservationId: id, accountId, credits, lifetimeSeconds, holder };
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

  async charge({ id, accountId, operation, questionJson, found, costCredits }: PaidWork): Promise<void> {
    const fact = create(LookupSchema, {
      lookupId: id,
      accountId,
      operation,
      at: isoOf(systemClock.now()),
      questionJson,
      outcome: 'found',
      found,
      costCredits,
      priceBookVersion: PRICE_BOOK_VERSION,
      billed: true,
    });
    // The reservation is kept before the fact is published, because a crash between the two steps must not lose the
    // reserved credits.
    await keepUntilCharged(this.database, 'LOOKUPS', [id]);
    await this.store.publish(subjectOf('LOOKUPS', accountId), toBinary(LookupSchema, fact), id);
    await releaseCharged(this.database, [id]);
  }
}
