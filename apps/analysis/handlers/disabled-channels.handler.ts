import { fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { ChannelDecisionSchema, type ChannelKind, type Event } from '#contracts';
import { insertRows, type ActivityRow, type ClickHouseClient } from '#clickhouse';
import type { EventStore } from '#event-store';
import { derivedId } from '#kernel';
import { done, type Outcome } from '#messaging';
import { CLICKHOUSE, DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { causeOf, continueTrace } from '#telemetry';
import { ConsumerPattern } from '#transport';
import { channelDisabledEventOf } from '../domain/keyword-event-of.js';
import { publishEvents } from './publish-events.js';

/** A disabled channel. */
interface DisabledChannel {
  commandId: string;
  accountId: string;
  channelId: string;
  kind: ChannelKind;
  at: string;
  reason: string;
  failures: number;
  lastStatusCode: number;
}

/** Reports a disabled channel to the keywords that use it: the event `channel.disabled`, and a line in the activity. */
@Controller()
export class DisabledChannelsHandler {
  constructor(
    @Inject(STORE) private readonly store: EventStore,
    @Inject(DATABASE) private readonly database: Database,
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
  ) {}

  @ConsumerPattern({ stream: 'CHANNELS', name: 'analysis-disabled-channels', batchSize: 100 })
  async handle(batch: readonly JsMsg[]): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const message of batch)
      outcomes.push(await continueTrace(causeOf(message), () => this.reportAll(message)));
    return outcomes;
  }

  private async reportAll(message: JsMsg): Promise<Outcome> {
    const {
      commandId,
      accountId,
      channelId,
      decidedAt: at,
      events,
    } = fromBinary(ChannelDecisionSchema, message.data);
    for (const { event } of events) {
      if (event.case !== 'disabled') continue;
      const kind = await this.kindOf(channelId);
      // The channel was deleted meanwhile.
      if (kind === undefined) return done;
      const { reason, failures, lastStatusCode } = event.value;
      const disabled = { commandId, accountId, channelId, kind, at, reason, failures, lastStatusCode };
      await this.report(disabled, message);
    }
    return done;
  }

  private async report(disabled: DisabledChannel, message: JsMsg): Promise<void> {
    const { accountId, channelId } = disabled;
    const users: { keyword_id: string }[] = await this.database.query(
      `SELECT keyword_id FROM keywords WHERE account_id = $1 AND state <> 'retired' AND (
         jsonb_path_exists(definition, '$.channels[*] ? (@.channelId == $id)', jsonb_build_object('id', $2::text))
         OR jsonb_path_exists(definition, '$.rules[*].then[*].channelIds[*] ? (@ == $id)', jsonb_build_object('id', $2::text)))`,
      [accountId, channelId],
    );
    const events = users.map(({ keyword_id: keywordId }) => eventOf(disabled, keywordId));
    await publishEvents(
      this.store,
      events.map((event) => ({ event, message })),
    );
    await insertRows<ActivityRow>(
      this.clickhouse,
      'activity',
      events.map((event) => activityRow(disabled, event)),
    );
  }

  private async kindOf(channelId: string): Promise<ChannelKind | undefined> {
    const rows: { kind: ChannelKind }[] = await this.database.query(
      'SELECT kind FROM channels WHERE channel_id = $1',
      [channelId],
    );
    return rows[0]?.kind;
  }
}

function eventOf(
  { commandId, accountId, channelId, kind, at, ...rest }: DisabledChannel,
  keywordId: string,
): Event {
  const { reason, failures, lastStatusCode } = rest;
  const data = { channelId, kind, reason, failures, lastStatusCode: lastStatusCode || null };
  return channelDisabledEventOf(
    derivedId('channel-disabled', channelId, commandId),
    { accountId, keywordId },
    at,
    data,
  );
}

function activityRow(
  { accountId, channelId, kind, at, ...rest }: DisabledChannel,
  event: Event,
): ActivityRow {
  return {
    account_id: accountId,
    keyword_id: event.keywordId,
    occurred_at: at,
    activity_id: derivedId('channel-disabled-activity', event.eventId),
    watch_id: event.keywordId,
    source: '',
    // The API has no separate type for a disabled channel, so the line in the activity is a failure that is not
    // retried.
    type: 'webhook.failed',
    events_emitted: null,
    credits_charged: null,
    event_id: event.eventId,
    status_code: rest.lastStatusCode || null,
    message: `the channel is disabled: ${rest.reason}; POST /v1/channels/${channelId}/enable enables it`,
    channel_id: channelId,
    channel_kind: kind,
  };
}
