import { create } from '@bufbuild/protobuf';
import {
  EventSchema,
  NO_BODY,
  type AlertData,
  type AlertDecision,
  type AlertFired,
  type ChannelDisabled,
  type DigestAssembled,
  type Event,
  type KeywordDecision,
  type KeywordEnvelope,
} from '#contracts';
import { derivedId } from '#kernel';

/**
 * Returns the events about the keyword itself: `keyword.paused` if the keyword was running before, `keyword.resumed` if
 * it runs again. Pauses and resumes that change only the reasons have no event.
 */
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
 * Returns the event `channel.disabled` for a keyword: its webhook address or one of its channels was disabled.
 * @param causeId id of the attempt or decision that disabled the address or the channel. The event's id is derived from
 *   this id
 */
export function channelDisabledEventOf(
  causeId: string,
  keyword: { accountId: string; keywordId: string },
  occurredAt: string,
  data: ChannelDisabled,
): Event {
  const eventId = derivedId('channel-disabled', keyword.keywordId, causeId);
  return keywordEvent({ ...keyword, eventId, occurredAt, type: 'channel.disabled', data });
}

/** Returns the events of alerts that fired. Each event contains the actions of its rule, which delivery carries out. */
export function alertEventsOf({ accountId, keywordId, decidedAt, events }: AlertDecision): Event[] {
  return events.flatMap(({ event }): Event[] => {
    if (event.case !== 'fired') return [];
    const { alertId, webhook, notifyChannelIds, notifyKeywordChannels } = event.value;
    const fired = keywordEvent({
      eventId: alertId,
      accountId,
      keywordId,
      occurredAt: decidedAt,
      type: 'keyword.alert_fired',
      data: alertDataOf(event.value),
    });
    return [{ ...fired, ruleWebhook: webhook, notifyChannelIds, notifyKeywordChannels }];
  });
}

/** Returns the event `keyword.report_ready` of a weekly report; empty for other digests. */
export function reportReadyEventsOf(digest: DigestAssembled): Event[] {
  const { accountId, keywordId, digestId, periodFrom, periodTo, reportUrl } = digest;
  if (reportUrl === '') return [];
  return [
    keywordEvent({
      eventId: derivedId('report-ready', digestId),
      accountId,
      keywordId,
      occurredAt: digest.assembledAt,
      type: 'keyword.report_ready',
      data: { reportId: digestId, period: { from: periodFrom, to: periodTo }, url: reportUrl },
    }),
  ];
}

function alertDataOf(alert: AlertFired): AlertData {
  const { ruleId: id, ruleName: name, kind, level, observed, baseline } = alert;
  const rule = kind === 'volume' || kind === 'sentiment_shift' ? { id, name, kind } : { spike: level };
  return {
    rule: rule as AlertData['rule'],
    window: { from: alert.windowFrom, to: alert.windowTo },
    observed,
    baseline: rounded(baseline),
    multiple: baseline > 0 ? rounded(observed / baseline) : null,
    sampleMentionIds: alert.sampleMentionIds,
    suppressedUntil: alert.suppressedUntil,
  };
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

interface Pause {
  reason: string;
  creditsRemaining: number;
}

type KeywordEventContent = Pick<KeywordEnvelope, 'type' | 'data'>;

function keywordEvent({
  eventId,
  accountId,
  keywordId,
  occurredAt,
  type,
  data,
}: KeywordEventContent & {
  eventId: string;
  accountId: string;
  keywordId: string;
  occurredAt: string;
}): Event {
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
    // The event has no watch. Its subject needs an id in the place of the watch, so the id of the keyword is used.
    watchId: keywordId,
    keywordId,
    type,
    occurredAt,
    envelope: new TextEncoder().encode(JSON.stringify(envelope)),
    push: true,
  });
}
