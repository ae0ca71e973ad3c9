import { fromBinary, toBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { DigestAssembledSchema, EventSchema } from '#contracts';
import type { EventStore } from '#event-store';
import { done, subjectOf, type Outcome } from '#messaging';
import { DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { causeOf } from '#telemetry';
import { ConsumerPattern } from '#transport';
import { reportReadyOf } from '../domain/keyword-event-of.js';
import { knownWatches } from '../readmodels/check-sink.js';

/** Publishes `keyword.report_ready` for each weekly report. Its id is derived from the report's, however often it is published. */
@Controller()
export class DigestEventsHandler {
  constructor(
    @Inject(STORE) private readonly store: EventStore,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  @ConsumerPattern({ stream: 'DIGESTS', name: 'analysis-digest-events', batchSize: 100 })
  async handle(batch: readonly JsMsg[]): Promise<Outcome[]> {
    const events = batch.flatMap((message) =>
      reportReadyOf(fromBinary(DigestAssembledSchema, message.data)).map((event) => ({
        event,
        cause: causeOf(message),
      })),
    );
    // A purged keyword gets no event any more.
    const known = await knownWatches(
      this.database,
      events.map(({ event }) => event.keywordId),
    );
    await this.store.publishAll(
      events
        .filter(({ event }) => known.has(event.keywordId))
        .map(({ event, cause }) => ({
          subject: subjectOf('EVENTS', event.accountId, event.watchId),
          data: toBinary(EventSchema, event),
          msgId: event.eventId,
          cause,
        })),
    );
    return batch.map(() => done);
  }
}
