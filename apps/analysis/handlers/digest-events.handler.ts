import { fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { DigestAssembledSchema } from '#contracts';
import type { EventStore } from '#event-store';
import { done, type Outcome } from '#messaging';
import { DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { ConsumerPattern } from '#transport';
import { reportReadyEventsOf } from '../domain/keyword-event-of.js';
import { publishKeywordEvents } from './publish-events.js';

/**
 * Publishes `keyword.report_ready` for each weekly report. The id of the event is derived from the id of the report, so
 * a repetition changes nothing.
 */
@Controller()
export class DigestEventsHandler {
  constructor(
    @Inject(STORE) private readonly store: EventStore,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  @ConsumerPattern({ stream: 'DIGESTS', name: 'analysis-digest-events', batchSize: 100 })
  async handle(batch: readonly JsMsg[]): Promise<Outcome[]> {
    const events = batch.flatMap((message) =>
      reportReadyEventsOf(fromBinary(DigestAssembledSchema, message.data)).map((event) => ({
        event,
        message,
      })),
    );
    await publishKeywordEvents(this.store, this.database, events);
    return batch.map(() => done);
  }
}
