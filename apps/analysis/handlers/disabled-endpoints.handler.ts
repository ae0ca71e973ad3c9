import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { attemptsIn, type Attempt, type Event } from '#contracts';
import { insertRows, NO_ID, type ActivityRow, type ClickHouseClient } from '#clickhouse';
import type { EventStore } from '#event-store';
import { displayUrl } from '#http-out';
import { derivedId } from '#kernel';
import { done, type Outcome } from '#messaging';
import { CLICKHOUSE, DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { causeOf, continueTrace } from '#telemetry';
import { ConsumerPattern } from '#transport';
import { channelDisabledEventOf } from '../domain/keyword-event-of.js';
import { publishEvents } from './publish-events.js';

/** A keyword, or a watch without a keyword, that sends to an endpoint; one of the two is null. */
interface EndpointUser {
  keyword_id: string | null;
  watch_id: string | null;
  source: string | null;
}

/**
 * Reports a disabled endpoint to everything that uses the endpoint: keywords get the event `channel.disabled` and a
 * line in the activity. Watches without a keyword get only the line, because there are no events about watches.
 */
@Controller()
export class DisabledEndpointsHandler {
  constructor(
    @Inject(STORE) private readonly store: EventStore,
    @Inject(DATABASE) private readonly database: Database,
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
  ) {}

  @ConsumerPattern({ stream: 'ATTEMPTS', name: 'analysis-disabled-endpoints', batchSize: 500 })
  async handle(batch: readonly JsMsg[]): Promise<Outcome[]> {
    for (const message of batch)
      for (const record of attemptsIn(message.data))
        if (record.endpointDisabled)
          await continueTrace(causeOf(message), () => this.report(record, message));
    return batch.map(() => done);
  }

  private async report(record: Attempt, message: JsMsg): Promise<void> {
    const users = await usersOf(this.database, record);
    const events = new Map(users.flatMap((user) => eventOf(record, user)));
    await publishEvents(
      this.store,
      [...events.values()].map((event) => ({ event, message })),
    );
    await insertRows<ActivityRow>(
      this.clickhouse,
      'activity',
      users.map((user) => activityRow(record, user, events.get(user))),
    );
  }
}

function usersOf(database: Database, { accountId, endpointDisabled }: Attempt): Promise<EndpointUser[]> {
  return database.query(
    `SELECT keyword_id, NULL AS watch_id, NULL AS source FROM keywords
     WHERE account_id = $1 AND definition->>'webhookUrl' = $2 AND state <> 'retired'
     UNION ALL
     SELECT NULL, watch_id, source FROM watches
     WHERE account_id = $1 AND webhook_url = $2 AND keyword_id IS NULL AND retired_at IS NULL`,
    [accountId, endpointDisabled?.url],
  );
}

function eventOf(
  { attemptId, accountId, at, endpointDisabled }: Attempt,
  user: EndpointUser,
): [EndpointUser, Event][] {
  if (user.keyword_id === null || !endpointDisabled) return [];
  const { url, reason, failures, lastStatusCode } = endpointDisabled;
  const data = {
    channelId: null,
    kind: 'webhook' as const,
    url,
    reason,
    failures,
    lastStatusCode: lastStatusCode || null,
  };
  return [[user, channelDisabledEventOf(attemptId, { accountId, keywordId: user.keyword_id }, at, data)]];
}

function activityRow(record: Attempt, user: EndpointUser, event: Event | undefined): ActivityRow {
  const { url = '', reason = '', lastStatusCode = 0 } = record.endpointDisabled ?? {};
  const subject = user.keyword_id ?? user.watch_id ?? '';
  return {
    account_id: record.accountId,
    keyword_id: user.keyword_id ?? NO_ID,
    occurred_at: record.at,
    activity_id: derivedId('endpoint-disabled-activity', record.attemptId, subject),
    watch_id: subject,
    source: user.source ?? '',
    // The API has no separate type for a disabled endpoint, so the line in the activity is a failure that is not
    // retried.
    type: 'webhook.failed',
    events_emitted: null,
    credits_charged: null,
    event_id: event?.eventId ?? null,
    status_code: lastStatusCode || null,
    message: `${displayUrl(url)} is disabled: ${reason}; POST /v1/endpoints/enable enables it`,
  };
}
