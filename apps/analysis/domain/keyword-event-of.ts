import { create } from '@bufbuild/protobuf';
import { EventSchema, type Event, type KeywordDecision, type KeywordEnvelope } from '#contracts';
import { derivedId } from '#kernel';

/** What receivers are told of a keyword's own life: that it rests, and that it runs again. */
export function keywordEventsOf(decision: KeywordDecision): Event[] {
  return decision.events.flatMap(({ event }, index) => {
    if (event.case === 'keywordPaused' && event.value.stopped)
      return [eventOf(decision, index, 'keyword.paused', event.value)];
    if (event.case === 'keywordResumed' && event.value.running)
      return [eventOf(decision, index, 'keyword.resumed', event.value)];
    return [];
  });
}

function eventOf(
  { accountId, subjectId: keywordId, commandId, decidedAt }: KeywordDecision,
  index: number,
  type: KeywordEnvelope['type'],
  { reason, creditsRemaining }: { reason: string; creditsRemaining: number },
): Event {
  const eventId = derivedId('keyword-event', keywordId, commandId, String(index));
  const envelope: KeywordEnvelope = {
    id: eventId,
    type,
    watchId: null,
    keywordId,
    listing: null,
    tweet: null,
    post: null,
    video: null,
    item: null,
    article: null,
    answer: null,
    previousPrice: null,
    occurredAt: decidedAt,
    ai: null,
    data: { reason, creditsRemaining },
  };
  return create(EventSchema, {
    eventId,
    accountId,
    // No watch's: it stands on the subject of the keyword.
    watchId: keywordId,
    keywordId,
    type,
    occurredAt: decidedAt,
    envelope: new TextEncoder().encode(JSON.stringify(envelope)),
    push: true,
  });
}
