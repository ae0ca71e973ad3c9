import { fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { KeywordDecisionSchema } from '#contracts';
import type { EventStore } from '#event-store';
import { done, type ConsumerOptions, type Outcome } from '#messaging';
import { DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { ConsumerPattern } from '#transport';
import { keywordEventsOf } from '../domain/keyword-event-of.js';
import { earlyOf, tooEarly } from './keyword-tables.js';
import { publishEvents } from './publish-events.js';

/** The consumer that turns decisions about keywords into events. */
export const KEYWORD_EVENTS: ConsumerOptions = {
  stream: 'KEYWORDS',
  name: 'analysis-keyword-events',
  batchSize: 100,
};

/**
 * Publishes events about keywords themselves. Delivery reads from the tables whether the keyword subscribes to such an
 * event (`webhookEvents`). So an event is published only after the tables contain its decision.
 */
@Controller()
export class KeywordEventsHandler {
  constructor(
    @Inject(STORE) private readonly store: EventStore,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  @ConsumerPattern(KEYWORD_EVENTS)
  async handle(batch: readonly JsMsg[]): Promise<Outcome[]> {
    const eventsOf = new Map(
      batch.map((message) => [message, keywordEventsOf(fromBinary(KeywordDecisionSchema, message.data))]),
    );
    const withEvents = batch.filter((message) => eventsOf.get(message)?.length);
    const early = await earlyOf(this.database, withEvents);
    await publishEvents(
      this.store,
      withEvents
        .filter((message) => !early.has(message))
        .flatMap((message) => (eventsOf.get(message) ?? []).map((event) => ({ event, message }))),
    );
    return Promise.all(batch.map((message) => (early.has(message) ? tooEarly(this.store, message) : done)));
  }
}
