import { BODY_KEY_OF, NO_BODY, type Analysis, type Envelope, type Event, type SourceId } from '#contracts';

/**
 * Returns the public envelope of an event that has an item. `keyword-event-of.ts` builds the envelopes of the other
 * events.
 * @throws Error if the event has no item
 */
export function envelopeBytes(event: Event): Uint8Array {
  const item = event.matched?.item;
  if (!item) throw new Error(`event ${event.eventId} has no item`);
  const envelope: Envelope = {
    id: event.eventId,
    type: event.type,
    watchId: event.watchId,
    keywordId: event.keywordId || null,
    ...NO_BODY,
    [BODY_KEY_OF[event.source as SourceId]]: JSON.parse(item.bodyJson) as object,
    previousPrice: item.previousPrice ?? null,
    occurredAt: event.occurredAt,
    ai: event.aiJson === '' ? null : (JSON.parse(event.aiJson) as object),
    ...(event.analysis && { analysis: analysisView(event.analysis) }),
  };
  return new TextEncoder().encode(JSON.stringify(envelope));
}

/** Returns the `analysis` of an envelope. A value that was not read is null. */
function analysisView(analysis: Analysis) {
  const { sentiment, sentimentScore, intent, relevance, reason, lang, reader, model, version } = analysis;
  return {
    sentiment: sentiment || null,
    sentimentScore: sentimentScore ?? null,
    intent: intent || null,
    relevance: relevance ?? null,
    reason: reason || null,
    lang: lang || null,
    reader,
    model,
    version,
  };
}
