import { create } from '@bufbuild/protobuf';
import {
  BODY_KEY_OF,
  EventSchema,
  NO_BODY,
  type Check,
  type Dropped,
  type Envelope,
  type Event,
  type Item,
  type MatchedItem,
  type SourceId,
} from '#contracts';
import { eventIdOf } from '#kernel';

/** The result of a keyword's mutes and VIPs for an item, with the reasons. */
export interface Treatment {
  dropped: Pick<Dropped, 'reason' | 'rule'> | undefined;
  vip: boolean;
  verdicts: { step: string; value: string; hit: boolean; detail: string }[];
  /** The match mode of the watch. */
  matchMode: string;
}

/** Builds the final event of one item of a check. Only this function builds the bytes of an envelope. */
export function eventOf(check: Check, matched: MatchedItem, treatment: Treatment): Event {
  const item = matched.item;
  if (!item) throw new Error(`check ${check.checkId} contains a match without an item`);
  const backfilled = check.baseline || matched.backfilled;
  const eventId = eventIdOf(check.watchId, item.itemId);
  return create(EventSchema, {
    eventId,
    accountId: check.accountId,
    watchId: check.watchId,
    keywordId: check.keywordId,
    searchId: check.searchId,
    source: check.source,
    type: item.eventType,
    occurredAt: check.finishedAt,
    envelope: new TextEncoder().encode(JSON.stringify(envelopeOf(eventId, check, item))),
    push: !backfilled && !treatment.dropped,
    backfilled,
    checkId: check.checkId,
    matched,
    // Checks of earlier versions do not contain the mode.
    matchMode: check.matchMode || treatment.matchMode,
    vip: treatment.vip,
    ...(treatment.dropped ? { dropped: treatment.dropped } : {}),
    verdicts: treatment.verdicts,
  });
}

function envelopeOf(id: string, check: Check, item: Item): Envelope {
  return {
    id,
    type: item.eventType,
    watchId: check.watchId,
    keywordId: check.keywordId || null,
    ...NO_BODY,
    [BODY_KEY_OF[check.source as SourceId]]: JSON.parse(item.bodyJson) as object,
    previousPrice: item.previousPrice ?? null,
    occurredAt: check.finishedAt,
    ai: null,
  };
}
