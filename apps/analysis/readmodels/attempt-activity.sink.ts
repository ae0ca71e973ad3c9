import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { attemptsIn } from '#contracts';
import { insertRows, NO_ID, type ActivityRow, type ClickHouseClient } from '#clickhouse';
import { done, FEW_WRITES, type Outcome } from '#messaging';
import { CLICKHOUSE } from '#platform';
import { ATTEMPT_ACTIVITY_SINK } from '#projections';
import { ConsumerPattern } from '#transport';

/** Writes ATTEMPTS to the activity. */
@Controller()
export class AttemptActivitySink {
  constructor(@Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient) {}

  @ConsumerPattern({
    stream: 'ATTEMPTS',
    name: ATTEMPT_ACTIVITY_SINK,
    // A message contains up to 50 attempts, so a batch can have 50,000 rows.
    batchSize: 1000,
    // Messages are collected before each insert, because one insert costs ClickHouse as much as a few hundred rows.
    ...FEW_WRITES,
  })
  async write(batch: readonly JsMsg[]): Promise<Outcome[]> {
    // Keywords that use a disabled endpoint get a separate event: see disabled-endpoints.handler.ts.
    const attempts = batch
      .flatMap(({ data }) => attemptsIn(data))
      .filter(({ endpointDisabled }) => !endpointDisabled);
    await insertRows<ActivityRow>(
      this.clickhouse,
      'activity',
      attempts.map((attempt) => ({
        account_id: attempt.accountId,
        keyword_id: attempt.keywordId || NO_ID,
        occurred_at: attempt.at,
        activity_id: attempt.attemptId,
        watch_id: attempt.watchId,
        source: attempt.source,
        type: attempt.delivered ? 'webhook.delivered' : 'webhook.failed',
        events_emitted: null,
        credits_charged: null,
        event_id: attempt.eventId,
        status_code: attempt.statusCode || null,
        message: attempt.nextAttemptAt
          ? `${attempt.message}; retried at ${attempt.nextAttemptAt}`
          : attempt.message,
        ...(attempt.channelId && { channel_id: attempt.channelId, channel_kind: attempt.channelKind }),
      })),
    );
    return batch.map(() => done);
  }
}
