import { fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { PurgeSchema } from '#contracts';
import { eraseTwice, purgeConsumer, type Outcome } from '#messaging';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';
import { ConsumerPattern } from '#transport';
import { IdempotencyRecords } from './idempotency-records.js';

/** Removes the responses about a purged keyword that were stored for an `Idempotency-Key`. */
@Controller()
export class PurgeHandler {
  private readonly records: IdempotencyRecords;

  constructor(@Inject(DATABASE) database: Database) {
    this.records = new IdempotencyRecords(database);
  }

  @ConsumerPattern(purgeConsumer('gateway'))
  handle(batch: readonly JsMsg[]): Promise<Outcome[]> {
    return eraseTwice(batch, async (purge) => {
      const { accountId, keywordId } = fromBinary(PurgeSchema, purge);
      await this.records.forgetKeywords(accountId, [keywordId]);
    });
  }
}
