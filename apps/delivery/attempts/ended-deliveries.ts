import PQueue from 'p-queue';
import { attemptsIn, type Attempt } from '#contracts';
import type { EventStore } from '#event-store';
import { subjectOf } from '#messaging';
import type { ReadEvent } from '../wire/pushed-event.reader.js';
import { keyOf, type TargetKind } from './delivery.js';
import type { ClaimedDelivery } from './pending-deliveries.js';

/** Maximum number of watches that are read at the same time. */
const AT_ONCE = 16;

/**
 * Returns the keys (`keyOf`) of the deliveries of these events that have ended: the target has the event, or the delivery
 * was given up. A process that crashed can have recorded an attempt without acknowledging its event.
 */
export function endedOf(
  store: EventStore,
  events: readonly { event: ReadEvent; handledSince?: number | undefined }[],
): Promise<ReadonlySet<string>> {
  return keysOf(
    store,
    events.map(({ event, handledSince = 0 }) => ({ ...event, since: handledSince })),
    ({ nextAttemptAt, endpointDisabled }) => nextAttemptAt === '' && !endpointDisabled,
  );
}

/**
 * Returns the keys of the deliveries that were claimed before and whose success is recorded. The process that made the
 * attempt has crashed before it deleted the row, or Postgres could not answer.
 */
export function deliveredOf(
  store: EventStore,
  claimed: readonly ClaimedDelivery[],
): Promise<ReadonlySet<string>> {
  return keysOf(
    store,
    claimed.flatMap(({ accountId, watchId, claimedSince: since }) =>
      since === undefined ? [] : [{ accountId, watchId, since }],
    ),
    ({ delivered }) => delivered,
  );
}

/** Returns the keys of the deliveries of these watches that have had such an attempt since these times (ms). */
async function keysOf(
  store: EventStore,
  watches: readonly { accountId: string; watchId: string; since: number }[],
  isWanted: (attempt: Attempt) => boolean,
): Promise<ReadonlySet<string>> {
  const times = new Map<string, number>();
  for (const { accountId, watchId, since } of watches) {
    const subject = subjectOf('ATTEMPTS', accountId, watchId);
    times.set(subject, Math.min(since, times.get(subject) ?? Infinity));
  }
  const read = ([subject, at]: [string, number]) =>
    store.readSince('ATTEMPTS', subject, new Date(at), ({ data }) =>
      attemptsIn(data)
        .filter(isWanted)
        .map(({ eventId, targetKind, targetId }) =>
          keyOf({ eventId, target: { kind: targetKind as TargetKind, id: targetId } }),
        ),
    );
  const found = await new PQueue({ concurrency: AT_ONCE }).addAll([...times].map((one) => () => read(one)));
  return new Set(found.flat(2));
}
