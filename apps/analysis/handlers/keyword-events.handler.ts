import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { EventSchema, KeywordDecisionSchema } from '#contracts';
import type { EventStore } from '#event-store';
import { done, subjectOf, type Durable } from '#messaging';
import { keywordEventsOf } from '../domain/keyword-event-of.js';

/** Makes events of what happens to keywords themselves. Whether they are pushed is the keyword's `webhookEvents`. */
export function keywordEvents(store: EventStore): Durable {
  return {
    stream: 'KEYWORDS',
    name: 'analysis-keyword-events',
    batchSize: 100,
    async handle(batch) {
      const events = batch.flatMap(({ data }) => keywordEventsOf(fromBinary(KeywordDecisionSchema, data)));
      await store.publishAll(
        events.map((event) => ({
          subject: subjectOf('EVENTS', event.accountId, event.watchId),
          data: toBinary(EventSchema, event),
          msgId: event.eventId,
        })),
      );
      return batch.map(() => done);
    },
  };
}
