import { create } from '@bufbuild/protobuf';
import {
  EventSchema,
  NO_BODY,
  type ChannelDisabled,
  type Event,
  type KeywordDecision,
  type KeywordEnvelope,
} from '#contracts';
import { derivedId } from '#kernel';

/** The events of the keyword itself: it was paused, or it resumed. */
export function keywordEventsOf(decision: KeywordDecision): Event[] {
  const { accountId, subjectId: keywordId, commandId, decidedAt: occurredAt } = decision;
  return decision.events.flatMap(({ event }, index) => {
    const stateEvent = (type: 'keyword.paused' | 'keyword.resumed', data: Pause) =>
      keywordEvent({
        eventId: derivedId('keyword-event', keywordId, commandId, String(index)),
        accountId,
        keywordId,
        occurredAt,
        type,
        data: { reason: data.reason, creditsRemaining: data.creditsRemaining },
      });
    if (event.case === 'keywordPaused' && event.value.stopped)
      return [stateEvent('keyword.paused', event.value)];
    if (event.case === 'keywordResumed' && event.value.running)
      return [stateEvent('keyword.resumed', event.value)];
    return [];
  });
}

/**
 * The event for a keyword whose webhook address was disabled.
 * @param recordId id of the record of the disabled address, from which the event's id is derived
 */
export function channelDisabledOf(
  recordId: string,
  keyword: { accountId: string; keywordId: string },
  occurredAt: string,
  data: ChannelDisabled,
): Event {
  const eventId = derivedId('channel-disabled', keyword.keywordId, recordId);
  return keywordEvent({ ...keyword, eventId, occurredAt, type: 'channel.disabled', data });
}

interface Pause {
  reason: string;
  creditsRemaining: number;
}

type KeywordHappening = Pick<KeywordEnvelope, 'type' | 'data'>;

function keywordEvent({
  eventId,
  accountId,
  keywordId,
  occurredAt,
  type,
  data,
}: KeywordHappening & { eventId: string; accountId: string; keywordId: string; occurredAt: string }): Event {
  const envelope = {
    id: eventId,
    type,
    watchId: null,
    keywordId,
    ...NO_BODY,
    previousPrice: null,
    occurredAt,
    ai: null,
    data,
  } as KeywordEnvelope;
  return create(EventSchema, {
    eventId,
    accountId,
    // The event has no watch; its subject contains the keyword's id.
    watchId: keywordId,
    keywordId,
    type,
    occurredAt,
    envelope: new TextEncoder().encode(JSON.stringify(envelope)),
    push: true,
  });
}
