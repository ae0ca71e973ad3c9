import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import type { Check } from '#contracts';
import { insertRows, NO_ID, type ActivityRow, type ClickHouseClient } from '#clickhouse';
import type { EventStore } from '#event-store';
import { derivedId } from '#kernel';
import { FEW_WRITES, type Outcome } from '#messaging';
import { CLICKHOUSE, DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { CHECK_ACTIVITY_SINK } from '#projections';
import { ConsumerPattern } from '#transport';
import { writeChecks } from './check-sink.js';

/** Writes CHECKS to the activity: one record for each part of a check, with the reason if the check failed. */
@Controller()
export class CheckActivitySink {
  constructor(
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
  ) {}

  @ConsumerPattern({ stream: 'CHECKS', name: CHECK_ACTIVITY_SINK, batchSize: 2000, ...FEW_WRITES })
  write(batch: readonly JsMsg[]): Promise<Outcome[]> {
    return writeChecks(batch, this.database, this.store, (checks) =>
      insertRows<ActivityRow>(this.clickhouse, 'activity', checks.map(activityRow)),
    );
  }
}

function activityRow(check: Check): ActivityRow {
  return {
    account_id: check.accountId,
    keyword_id: check.keywordId || NO_ID,
    occurred_at: check.finishedAt,
    // Further parts of a large check are separate records with their own counts.
    activity_id: check.part > 1 ? derivedId('check part', check.checkId, String(check.part)) : check.checkId,
    watch_id: check.watchId,
    source: check.source,
    type: check.failure ? 'poll.failed' : 'poll.completed',
    events_emitted: check.baseline ? 0 : check.items.filter(({ backfilled }) => !backfilled).length,
    credits_charged: check.costCredits,
    event_id: null,
    status_code: null,
    message: messageOf(check),
    window_from: check.windowFrom || null,
    window_to: check.windowTo || null,
    gap: check.gap,
  };
}

function messageOf(check: Check): string {
  const notes = [...check.warnings];
  if (check.failure) notes.unshift(check.failure.reason);
  if (check.failure?.retryAt) notes.push(`retried after ${check.failure.retryAt}`);
  if (check.gap) notes.push('the check did not read back to the previous check; some items may be missing');
  return notes.join('; ');
}
