import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { Controller, Inject } from '@nestjs/common';
import { CheckSchema, DEFAULT_MATCH_MODE, EventSchema, type Check, type Event } from '#contracts';
import type { EventStore, Unstored } from '#event-store';
import { failpoint } from '#kernel';
import { done, park, subjectOf, type Outcome } from '#messaging';
import { DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { causeOf } from '#telemetry';
import { ConsumerPattern } from '#transport';
import { eventOf } from '../domain/event-of.js';
import { withoutWatch } from '../readmodels/check-sink.js';
import { settingsOf, treat, type WatchSettings } from './treatment.js';

/**
 * Turns checks into final events. Sentiment, intent and the agent step will run between the treatment and the append:
 * an event is appended only when it is final.
 */
@Controller()
export class ChecksHandler {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
  ) {}

  @ConsumerPattern({ stream: 'CHECKS', name: 'analysis-events', batchSize: 100 })
  async handle(batch: readonly { data: Uint8Array }[]): Promise<Outcome[]> {
    const checks = batch.map(({ data }) => parse(data));
    const watchIds = checks.flatMap((check) => (check && check.items.length > 0 ? [check.watchId] : []));
    const settings =
      watchIds.length > 0 ? await settingsOf(this.database, watchIds) : new Map<string, WatchSettings>();
    const events = batch.flatMap((message, index) => {
      const check = checks[index];
      const found = check ? eventsOf(check, settings.get(check.watchId)) : [];
      return found.map((event) => messageOf(event, causeOf(message)));
    });
    await this.store.publishAll(events);
    if (events.length > 0) failpoint('analysis-after-publish-before-ack');
    return Promise.all(checks.map((check) => this.outcomeOf(check, settings)));
  }

  private async outcomeOf(
    check: Check | undefined,
    settings: ReadonlyMap<string, WatchSettings>,
  ): Promise<Outcome> {
    if (!check) return park('not a check');
    if (check.items.length === 0 || settings.has(check.watchId)) return done;
    return withoutWatch(this.store, check);
  }
}

function messageOf(event: Event, cause: string | undefined): Unstored {
  return {
    subject: subjectOf('EVENTS', event.accountId, event.watchId),
    data: toBinary(EventSchema, event),
    msgId: event.eventId,
    cause,
  };
}

/** A purged watch has no settings: the results of its last checks are dropped. */
function eventsOf(check: Check, settings: WatchSettings | undefined): Event[] {
  if (!settings) return [];
  const { matchMode, definition } = settings;
  return check.items.flatMap((matched) =>
    matched.item
      ? [
          eventOf(
            check,
            matched,
            treat(matched.item, { matchMode: matchMode || DEFAULT_MATCH_MODE, definition }),
          ),
        ]
      : [],
  );
}

function parse(data: Uint8Array): Check | undefined {
  try {
    return fromBinary(CheckSchema, data);
  } catch {
    return undefined;
  }
}
