import type { AlertData, IndexedEvent, KeywordEnvelope } from '#contracts';
import type { ActivityRow } from '#clickhouse';
import { derivedId } from '#kernel';

/**
 * Returns the activity line for an event of the keyword itself, whether or not the event is sent to a webhook. Events
 * of items have no line. For `channel.disabled`, the handlers that publish the event write the line.
 */
export function keywordActivityOf(event: IndexedEvent): ActivityRow[] {
  if (event.matched || event.watchId !== event.keywordId || event.type === 'channel.disabled') return [];
  return [
    {
      account_id: event.accountId,
      keyword_id: event.keywordId,
      occurred_at: event.occurredAt,
      activity_id: derivedId('keyword-event-activity', event.eventId),
      watch_id: event.keywordId,
      source: '',
      type: event.type,
      events_emitted: null,
      credits_charged: null,
      event_id: event.eventId,
      status_code: null,
      message: messageOf(JSON.parse(new TextDecoder().decode(event.envelope)) as KeywordEnvelope),
    },
  ];
}

/** Returns the text of the line, for people. */
function messageOf(envelope: KeywordEnvelope): string {
  switch (envelope.type) {
    case 'keyword.alert_fired':
      return alertText(envelope.data);
    case 'keyword.paused':
    case 'keyword.resumed':
      return envelope.data.reason;
    case 'keyword.report_ready':
      return `the report of ${envelope.data.period.from} to ${envelope.data.period.to} is ready`;
    case 'channel.disabled':
      return envelope.data.reason;
  }
}

function alertText({ rule, window, observed, baseline }: AlertData): string {
  const what = 'spike' in rule ? `spike alert (${rule.spike})` : rule.name;
  const kind = 'kind' in rule && rule.kind === 'sentiment_shift' ? 'negative mentions' : 'mentions';
  return `${what}: ${observed} ${kind} from ${window.from} to ${window.to}, expected about ${baseline}`;
}
