import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import type { EventStore } from '#event-store';
import { systemClock } from '#kernel';
import { done, type Outcome } from '#messaging';
import { DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { ConsumerPattern } from '#transport';
import { syncWithChannels } from '../digests/digest-turns.js';
import { EventsProgress } from '../projection-progress.js';
import { earlyOf, tooEarly } from './keyword-tables.js';

/** Plans the digests of a keyword when its channels change. */
@Controller()
export class DigestTurnsHandler {
  constructor(
    @Inject(STORE) private readonly store: EventStore,
    @Inject(DATABASE) private readonly database: Database,
    private readonly progress: EventsProgress,
  ) {}

  @ConsumerPattern({ stream: 'KEYWORDS', name: 'analysis-digest-turns', batchSize: 100 })
  async handle(batch: readonly JsMsg[]): Promise<Outcome[]> {
    const early = await earlyOf(this.database, batch);
    const ids = batch
      .filter((message) => !early.has(message))
      .map(({ subject }) => subject.split('.')[2] ?? '');
    if (ids.length > 0)
      await syncWithChannels(
        this.database,
        [...new Set(ids)],
        await this.progress.lastSeq(),
        systemClock.now().getTime(),
      );
    return Promise.all(batch.map((message) => (early.has(message) ? tooEarly(this.store, message) : done)));
  }
}
