import { fromBinary, toBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { AlertDecisionSchema, EventSchema } from '#contracts';
import type { EventStore } from '#event-store';
import { failpoint } from '#kernel';
import { done, subjectOf, type Outcome } from '#messaging';
import { DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { causeOf } from '#telemetry';
import { ConsumerPattern } from '#transport';
import { alertEventsOf } from '../domain/keyword-event-of.js';
import { knownWatches } from '../readmodels/check-sink.js';

/** Publishes `keyword.alert_fired` for each alert that fired. Its id is the alert's, however often it is published. */
@Controller()
export class AlertEventsHandler {
  constructor(
    @Inject(STORE) private readonly store: EventStore,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  @ConsumerPattern({ stream: 'ALERTS', name: 'analysis-alert-events', batchSize: 100 })
  async handle(batch: readonly JsMsg[]): Promise<Outcome[]> {
    const events = batch.flatMap((message) =>
      alertEventsOf(fromBinary(AlertDecisionSchema, message.data)).map((event) => ({
        event,
        cause: causeOf(message),
      })),
    );
    // A purged keyword gets no event any more.
    const known = await knownWatches(
      this.database,
      events.map(({ event }) => event.keywordId),
    );
    const present = events.filter(({ event }) => known.has(event.keywordId));
    await this.store.publishAll(
      present.map(({ event, cause }) => ({
        subject: subjectOf('EVENTS', event.accountId, event.watchId),
        data: toBinary(EventSchema, event),
        msgId: event.eventId,
        cause,
      })),
    );
    if (present.length > 0) failpoint('alerts-after-publish-before-ack');
    return batch.map(() => done);
  }
}
