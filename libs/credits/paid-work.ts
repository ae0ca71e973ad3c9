import { create, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { LookupSchema, PRICE_BOOK_VERSION } from '#contracts';
import type { EventStore } from '#event-store';
import { isoOf, Refusal, systemClock } from '#kernel';
import { subjectOf } from '#messaging';
import { isOutage } from '#outages';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import { keepUntilCharged, releaseCharged } from './reservations.js';

type LookupInit = Exclude<MessageInitShape<typeof LookupSchema>, { $typeName: string }>;

/** Finished work that costs credits: a direct lookup, a semantic question or an analysis. */
export type PaidWork = Pick<LookupInit, 'source' | 'questionJson' | 'found'> & {
  /** The id of the fact and of its reservation. Work with the same id is charged only once. */
  id: string;
  accountId: string;
  operation: string;
  /** `found`, or the code with which the upstream reported that the object does not exist. */
  outcome: string;
  costCredits: number;
};

/** Where the facts of paid work and the reservations of credits are stored. */
export interface PaidWorkStores {
  database: Database;
  store: EventStore;
  log: Logger;
}

/**
 * Publishes the fact of finished work, from which billing computes the charge. Succeeds if the fact is stored.
 * @throws Refusal `unavailable` if NATS does not confirm the fact. The fact can still be stored, so the text of the
 *   refusal says that it is not known whether the request was charged. Every other error means that nothing was stored
 *   or charged: the error of Postgres before the publication, or the error of NATS if the server refuses the fact
 */
export async function publishPaidWork(
  { database, store, log }: PaidWorkStores,
  { id, ...work }: PaidWork,
): Promise<void> {
  const at = isoOf(systemClock.now());
  const priced = { priceBookVersion: PRICE_BOOK_VERSION, billed: true };
  const fact = create(LookupSchema, { ...work, lookupId: id, at, ...priced });
  // First the reservation loses its expiry, then the fact is published. In the opposite order, the reservation could
  // expire before the fact is charged, if this process crashed between the two steps. If the fact is never stored,
  // billing releases the credits after its consumer has read the stream beyond this point.
  await keepUntilCharged(database, 'LOOKUPS', [id]);
  await store
    .publish(subjectOf('LOOKUPS', work.accountId), toBinary(LookupSchema, fact), id)
    .catch((error: unknown) => {
      if (!isOutage(error)) throw error;
      log.warn({ err: error, reservationId: id }, 'NATS did not confirm the fact of paid work');
      throw Refusal.unavailable(
        'a store did not confirm the charge; it is not known whether the request was charged',
      );
    });
  // If the same work was requested twice at the same time, the other request may have been charged before this request
  // made its reservation. That charge did not settle this reservation, so it is released here. A failure is only
  // logged, because the stored fact is charged and the caller must get what it pays for. Billing later drops
  // reservations that no charge settles.
  await releaseCharged(database, [id]).catch((error: unknown) =>
    log.warn(
      { err: error, reservationId: id },
      'a reservation could not be released; billing drops it later',
    ),
  );
}
