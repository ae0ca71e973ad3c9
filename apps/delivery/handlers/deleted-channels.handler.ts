import { fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { ChannelDecisionSchema } from '#contracts';
import type { EventStore } from '#event-store';
import { done, retry, type Outcome } from '#messaging';
import { DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { positionOf } from '#projections';
import { ConsumerPattern } from '#transport';
import { channelsProjection } from '../projections/channels.projection.js';

const NOT_APPLIED_MS = 1000;

/**
 * Erases the addresses and secrets of deleted channels from CHANNELS: only the fact that a channel was deleted stays.
 */
@Controller()
export class DeletedChannelsHandler {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
  ) {}

  @ConsumerPattern({ stream: 'CHANNELS', name: 'delivery-deleted-channels', batchSize: 100 })
  async handle(batch: readonly JsMsg[]): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const message of batch) outcomes.push(await this.erase(message));
    return outcomes;
  }

  private async erase({ data, subject, seq }: JsMsg): Promise<Outcome> {
    if (!fromBinary(ChannelDecisionSchema, data).events.some(({ event }) => event.case === 'deleted'))
      return done;
    // If a fact were erased before the projection has applied it, the projection would wait for the fact for ever.
    if ((await positionOf(this.database.manager, channelsProjection, subject)) < seq)
      return retry(NOT_APPLIED_MS);
    await this.store.erase('CHANNELS', subject, seq);
    return done;
  }
}
