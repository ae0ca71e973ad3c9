import { fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { AlertDecisionSchema } from '#contracts';
import type { EventStore } from '#event-store';
import { failpoint } from '#kernel';
import { done, type Outcome } from '#messaging';
import { DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { ConsumerPattern } from '#transport';
import { alertEventsOf } from '../domain/keyword-event-of.js';
import { publishKeywordEvents } from './publish-events.js';

/**
 * Publishes `keyword.alert_fired` for each alert that fired. The event has the alert's id, so a repetition changes
 * nothing.
 */
@Controller()
export class AlertEventsHandler {
  constructor(
    @Inject(STORE) private readonly store: EventStore,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  @ConsumerPattern({ stream: 'ALERTS', name: 'analysis-alert-events', batchSize: 100 })
  async handle(batch: readonly JsMsg[]): Promise<Outcome[]> {
    const events = batch.flatMap((message) =>
      alertEventsOf(fromBinary(AlertDecisionSchema, message.data)).map((event) => ({ event, message })),
    );
    if ((await publishKeywordEvents(this.store, this.database, events)) > 0)
      failpoint('alerts-after-publish-before-ack');
    return batch.map(() => done);
  }
}
