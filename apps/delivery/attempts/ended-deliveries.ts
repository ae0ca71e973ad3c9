import PQueue from 'p-queue';
import { attemptsIn } from '#contracts';
import type { EventStore } from '#event-store';
import { subjectOf } from '#messaging';
import type { ReadEvent } from '../wire/pushed-event.reader.js';
import { keyOf, type TargetKind } from './delivery.js';

/** Maximum number of watches that are read at the same time. */
const AT_ONCE = 16;

/**
 * Returns the keys (`keyOf`) of the deliveries of these events that have ended: the target has the event, or the delivery
 * was given up. A process that crashed can have recorded an attempt without acknowledging its event.
 */
export async function endedOf(
  store: EventStore,
  events: readonly { event: ReadEvent; handledSince?: number | undefined }[],
): Promise<ReadonlySet<string>> {
  const since = new Map<string, number>();
  for (const { event, handledSince = 0 } of events) {
    const subject = subjectOf('ATTEMPTS', event.accountId, event.watchId);
    since.set(subject, Math.min(handledSince, since.get(subject) ?? Infinity));
  }
  const read = ([subject, at]: [string, number]) =>
    store.readSince('ATTEMPTS', subject, new Date(at), endedIn);
  const found = await new PQueue({ concurrency: AT_ONCE }).addAll([...since].map((one) => () => read(one)));
  return new Set(found.flat(2));
}

/** Returns the keys of the deliveries that end with an attempt of this message. */
function endedIn({ data }: { data: Uint8Array }): string[] {
  return attemptsIn(data)
    .filter(({ nextAttemptAt, endpointDisabled }) => nextAttemptAt === '' && !endpointDisabled)
    .map(({ eventId, targetKind, targetId }) =>
      keyOf({ eventId, target: { kind: targetKind as TargetKind, id: targetId } }),
    );
}
