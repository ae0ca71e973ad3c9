import { create } from '@bufbuild/protobuf';
import {
  EventSchema,
  type Check,
  type Dropped,
  type Event,
  type ItemReading,
  type KeywordDefinition,
  type MatchedItem,
} from '#contracts';
import { eventIdOf } from '#kernel';
import { countedAtOf } from './counted-at.js';
import { envelopeBytes } from './envelope-of.js';
import { chargesOf } from './reading-charges.js';

/** What the settings of a keyword do with an item: drop the item or mark it as VIP, with the reasons. */
export interface Treatment {
  dropped: Pick<Dropped, 'reason' | 'rule'> | undefined;
  vip: boolean;
  verdicts: { step: string; value: string; hit: boolean; detail: string }[];
  /** The match mode of the watch. */
  matchMode: string;
}

/**
 * Builds the event of one item of a check. The event is final, or it is a draft that waits for more readings.
 * @param reading what was read about the item; undefined for an item that was dropped before its reading
 * @throws Error if `matched` has no item
 */
export function eventOf(
  check: Check,
  matched: MatchedItem,
  treatment: Treatment,
  reading?: ItemReading,
): Event {
  const { item } = matched;
  if (!item) throw new Error(`check ${check.checkId} contains a match without an item`);
  const backfilled = check.baseline || matched.backfilled;
  const event = create(EventSchema, {
    eventId: eventIdOf(check.watchId, item.itemId),
    accountId: check.accountId,
    watchId: check.watchId,
    keywordId: check.keywordId,
    searchId: check.searchId,
    source: check.source,
    type: item.eventType,
    occurredAt: check.finishedAt,
    countedAt: countedAtOf(check, item),
    push: !backfilled && !treatment.dropped,
    backfilled,
    checkId: check.checkId,
    matched,
    // Checks that earlier versions stored do not contain the mode.
    matchMode: check.matchMode || treatment.matchMode,
    vip: treatment.vip,
    ...(treatment.dropped ? { dropped: treatment.dropped } : {}),
    verdicts: treatment.verdicts,
    lang: reading ? reading.lang : (item.lang ?? ''),
    ...(reading && {
      relevance: reading.relevance,
      relevanceReason: reading.relevanceReason,
      storyId: reading.storyId,
      coBrands: reading.coBrands,
      embedding: reading.embedding,
      embeddingModel: reading.embeddingModel,
      readings: reading.records,
    }),
    ...(reading?.analysis && { analysis: reading.analysis }),
    ...(reading?.bucket && { bucket: reading.bucket }),
  });
  return { ...event, charges: chargesOf(event), envelope: envelopeBytes(event) };
}

/**
 * Returns why the keyword drops an item that was read: its language, or its relevance. The language filter never drops
 * an item whose language was not recognised.
 */
export function dropOf(
  definition: Pick<KeywordDefinition, 'languages' | 'minRelevance'> | undefined,
  { lang, relevance }: Pick<ItemReading, 'lang' | 'relevance'>,
): Treatment['dropped'] {
  if (!definition) return undefined;
  const { languages, minRelevance } = definition;
  if (languages.length > 0 && lang !== '' && !languages.some((wanted) => isSameLanguage(wanted, lang)))
    return { reason: 'language', rule: lang };
  if (minRelevance !== undefined && relevance < minRelevance)
    return { reason: 'irrelevant', rule: `${relevance} < ${minRelevance}` };
  return undefined;
}

/**
 * Returns whether a language is accepted. `pt` accepts `pt-BR`; `pt-BR` accepts `pt`, because most sources and readers
 * do not state a region.
 */
function isSameLanguage(wanted: string, found: string): boolean {
  const [a = '', b = ''] = [wanted.toLowerCase(), found.toLowerCase()];
  return a === b || a.startsWith(`${b}-`) || b.startsWith(`${a}-`);
}
