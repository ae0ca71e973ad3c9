import { create, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { LookupSchema, PRICE_BOOK_VERSION } from '#contracts';
import type { EventStore } from '#event-store';
import { isoOf, systemClock } from '#kernel';
import { subjectOf } from '#messaging';
import type { Database } from '#postgres';
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

/**
 * Publishes the fact of finished work, from which billing computes the charge.
 * @throws an outage if the fact cannot be stored
 */
export async function publishPaidWork(
  database: Database,
  store: EventStore,
  { id, ...work }: PaidWork,
): Promise<void> {
  const at = isoOf(systemClock.now());
  const priced = { priceBookVersion: PRICE_BOOK_VERSION, billed: true };
  const fact = create(LookupSchema, { ...work, lookupId: id, at, ...priced });
  // First the reservation loses its expiry, then the fact is published. In the opposite order, the reservation could
  // expire before the fact is charged, if this process crashed between the two steps. If the fact is never stored,
  // billing releases the credits after its consumer has read the stream beyond this point.
  await keepUntilCharged(database, 'LOOKUPS', [id]);
  await store.publish(subjectOf('LOOKUPS', work.accountId), toBinary(LookupSchema, fact), id);
  // If the same work was requested twice at the same time, the other request may have been charged before this request
  // made its reservation. That charge did not settle this reservation, so it is released here.
  await releaseCharged(database, [id]);
}
