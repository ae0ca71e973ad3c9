import { fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { ReadingFactSchema } from '#contracts';
import type { EventStore } from '#event-store';
import { failpoint } from '#kernel';
import { done, type Outcome } from '#messaging';
import { STORE } from '#platform';
import { ConsumerPattern } from '#transport';
import { WAITING_SUBJECTS } from '../projections/waiting-readings.projection.js';
import { publishEvents } from './publish-events.js';

/** Publishes the events that waited for the language model, exactly as their answers contain them. */
@Controller()
export class AnsweredReadingsHandler {
  constructor(@Inject(STORE) private readonly store: EventStore) {}

  @ConsumerPattern({
    stream: 'READINGS',
    name: 'analysis-answered-readings',
    subjects: WAITING_SUBJECTS,
    batchSize: 100,
  })
  async handle(batch: readonly JsMsg[]): Promise<Outcome[]> {
    const events = batch.flatMap((message) => {
      const { fact } = fromBinary(ReadingFactSchema, message.data);
      const event = fact.case === 'answered' ? fact.value.event : undefined;
      return event ? [{ event, message }] : [];
    });
    await publishEvents(this.store, events);
    if (events.length > 0) failpoint('readings-after-publish-before-ack');
    return batch.map(() => done);
  }
}
