import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { attemptsIn, type Attempt } from '#contracts';
import { insertRows, NO_ID, type AttemptRow, type ClickHouseClient } from '#clickhouse';
import { endpointIdOf } from '#kernel';
import { done, FEW_WRITES, type Outcome } from '#messaging';
import { CLICKHOUSE } from '#platform';
import { ATTEMPTS_SINK } from '#projections';
import { ConsumerPattern } from '#transport';

/** Writes the attempts of ATTEMPTS to the table `attempts`. The records of disabled endpoints are left out. */
@Controller()
export class AttemptsSink {
  constructor(@Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient) {}

  @ConsumerPattern({
    stream: 'ATTEMPTS',
    name: ATTEMPTS_SINK,
    // A message contains up to 50 attempts, so a batch can have 50,000 rows.
    batchSize: 1000,
    ...FEW_WRITES,
  })
  async write(batch: readonly JsMsg[]): Promise<Outcome[]> {
    const attempts = batch
      .flatMap(({ data }) => attemptsIn(data))
      .filter(({ endpointDisabled }) => !endpointDisabled);
    await insertRows<AttemptRow>(this.clickhouse, 'attempts', attempts.map(attemptRow));
    return batch.map(() => done);
  }
}

function attemptRow(attempt: Attempt): AttemptRow {
  const { accountId, endpoint, at } = attempt;
  return {
    account_id: accountId,
    first_at: attempt.firstAt || at,
    event_id: attempt.eventId,
    // Attempts of older versions all went to a webhook, whose address was stored without its query.
    target_kind: attempt.targetKind || 'webhook',
    target_id: attempt.targetId || endpointIdOf(accountId, endpoint),
    at,
    attempt_id: attempt.attemptId,
    keyword_id: attempt.keywordId || NO_ID,
    watch_id: attempt.watchId,
    source: attempt.source,
    endpoint,
    number: attempt.number,
    duration_ms: attempt.durationMs,
    status_code: attempt.statusCode,
    delivered: attempt.delivered,
    message: attempt.message,
    next_attempt_at: attempt.nextAttemptAt || null,
  };
}
