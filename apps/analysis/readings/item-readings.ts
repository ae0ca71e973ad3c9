import { create, toBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import {
  AnalysisSchema,
  creditsPerReading,
  ItemReadingSchema,
  ReadingFactSchema,
  ReadingRecordSchema,
  type Check,
  type ItemReading,
} from '#contracts';
import type { EventStore, Unstored } from '#event-store';
import { isoOf, systemClock } from '#kernel';
import { subjectOf as subjectIn } from '#messaging';
import { DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { dropOf } from '../domain/event-of.js';
import { affordable, maxCredits, reserved } from './affordable.js';
import { coBrandsOf } from '../domain/co-brands.js';
import { CO_BRANDS, coBrandCredits } from '../domain/reading-charges.js';
import { ItemBuckets } from './item-buckets.js';
import type { LocalReader, LocalReading } from '#readers';
import { LLM } from './llm.js';
import { LOCAL_MODEL, READER } from './local-reader.js';
import { requestOf, subjectOf, type Readable } from './readable.js';
import { RecentSpending } from './recent-spending.js';
import { Stories } from './stories.js';
import { storedReadings } from './stored-readings.js';

/** A part of a check, with its items that are not muted. */
export interface ReadableCheck {
  check: Check;
  items: readonly Readable[];
  /** The readings that an earlier attempt at the check has stored, by event id. */
  stored: ReadonlyMap<string, ItemReading>;
  /** Trace context (`traceparent`) of the message whose handling makes the reading. */
  cause?: string | undefined;
}

/** The readings of items, by event id: those that are stored, and those that are not complete yet. */
export interface LocalReadings {
  /** Readings that an earlier attempt has stored; these are complete. */
  stored: ReadonlyMap<string, ItemReading>;
  /** Readings of the local reader that are not stored yet. */
  unstored: ReadonlyMap<string, ItemReading>;
}

/** Reads items with the local reader, and stores the readings before events are built from them. */
@Injectable()
export class ItemReadings {
  private readonly spending = new RecentSpending(() => systemClock.now().getTime());

  constructor(
    @Inject(READER) private readonly reader: LocalReader,
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
    private readonly stories: Stories,
    private readonly buckets: ItemBuckets,
    @Inject(LLM) private readonly llm: object | undefined,
  ) {}

  /** Returns the readings of a check that an earlier attempt has stored, by event id. */
  storedOf(check: Check): Promise<ReadonlyMap<string, ItemReading>> {
    return storedReadings(this.store, check);
  }

  /** Reads all items whose readings are not stored yet. Stores nothing. */
  async readLocally(checks: readonly ReadableCheck[]): Promise<LocalReadings> {
    const stored = new Map(checks.flatMap((one) => [...one.stored]));
    const items = checks.flatMap((one) => one.items.filter(({ eventId }) => !stored.has(eventId)));
    if (items.length === 0) return { stored, unstored: new Map() };
    const began = performance.now();
    const local = await this.reader.read(items.map(requestOf));
    const durationMs = Math.round((performance.now() - began) / items.length);
    const readings = items.map((item, index) => readingOf(item, local[index]!, durationMs));
    return { stored, unstored: new Map(readings.map((reading) => [reading.eventId, reading])) };
  }

  /**
   * Completes the readings of these checks with the parts that depend on stored data (credits, stories, buckets), and
   * stores the readings.
   * @returns the readings by event id; every item has a reading
   */
  async complete(
    checks: readonly ReadableCheck[],
    { stored, unstored }: LocalReadings,
  ): Promise<Map<string, ItemReading>> {
    const unread = checks.flatMap((one) => {
      const items = one.items.filter(({ eventId }) => unstored.has(eventId));
      return items.length > 0 ? [{ ...one, items }] : [];
    });
    if (unread.length === 0) return new Map(stored);
    const found = unread.flatMap(({ items }) =>
      items.map((item) => ({ item, reading: unstored.get(item.eventId)! })),
    );
    await this.addCreditsAndStories(found);
    await this.store.publishAll(unread.flatMap((one) => messagesOf(one, unstored)));
    return new Map([...stored, ...unstored]);
  }

  private async addCreditsAndStories(
    found: readonly { item: Readable; reading: ItemReading }[],
  ): Promise<void> {
    const kept = found.filter(({ item, reading }) => !dropOf(item.settings.definition, reading));
    const priced = kept.filter(({ item }) => maxCredits(item) > 0);
    const paid = await this.paid(priced.map(({ item }) => item));
    for (const { item, reading } of priced)
      if (!paid.has(item.eventId)) reading.unreadReason = 'insufficient_credits';
    for (const { reading } of found) if (!paid.has(reading.eventId)) withoutAnalysis(reading);
    const stories = await this.stories.of(found.map(({ item }) => item));
    for (const { item, reading } of found) reading.storyId = stories.get(item.eventId)?.storyId ?? '';
    for (const { item, reading } of kept) readCoBrands(item, reading, paid.has(item.eventId));
    await this.buckets.fill(
      priced.filter(({ item }) => paid.has(item.eventId)),
      stories,
    );
  }

  /** Returns the event ids of the items whose accounts can pay for the readings. */
  private paid(items: readonly Readable[]): Promise<ReadonlySet<string>> {
    return this.llm ? reserved(this.database, items) : affordable(this.database, items, this.spending);
  }
}

/** Adds brands other than the keyword's own. Finding them costs credits only in answers of AI engines. */
function readCoBrands(readable: Readable, reading: ItemReading, isPaid: boolean): void {
  const { item, settings } = readable;
  if (!settings.definition?.coBrandsEnabled || (coBrandCredits(item.source, item.eventType) > 0 && !isPaid))
    return;
  const { names } = subjectOf(settings);
  reading.coBrands = coBrandsOf({ title: item.title, text: item.text, names, listed: settings.brands });
  reading.records.push(
    create(ReadingRecordSchema, {
      ...{ kind: CO_BRANDS, reader: 'local', model: 'rules', version: '1' },
      costCredits: coBrandCredits(item.source, item.eventType),
      detail: reading.coBrands.join(', '),
    }),
  );
}

/** Removes sentiment and intent from the reading of an item that is dropped, or that the account cannot pay for. */
function withoutAnalysis(reading: ItemReading): void {
  delete reading.analysis;
  reading.records = reading.records.filter(({ kind }) => kind !== 'analysis');
}

function readingOf({ eventId, settings }: Readable, local: LocalReading, durationMs: number): ItemReading {
  const { lang = '', relevance, reason, sentiment, sentimentScore, intent, intentReason } = local;
  const { reader, model, version } = LOCAL_MODEL;
  const readerNames = { reader, model, version };
  const record = (kind: string, detail: string, costCredits = 0) =>
    create(ReadingRecordSchema, { kind, ...readerNames, durationMs, detail, costCredits });
  const isRead = settings.analysis && sentiment !== undefined && intent !== undefined;
  const reasons = [reason, ...(intentReason ? [intentReason] : [])].join('; ');
  return create(ItemReadingSchema, {
    eventId,
    lang,
    relevance,
    relevanceReason: reason,
    ...(isRead && {
      analysis: create(AnalysisSchema, {
        sentiment,
        ...(sentimentScore !== undefined && { sentimentScore }),
        intent,
        relevance,
        reason: reasons,
        lang,
        ...readerNames,
      }),
    }),
    ...(local.embedding && { embedding: local.embedding, embeddingModel: LOCAL_MODEL.embedding }),
    records: [
      record('language', lang || 'not recognised'),
      record('relevance', reason),
      ...(isRead ? [record('analysis', intentReason ?? '', creditsPerReading('analysis'))] : []),
    ],
  });
}

/** Maximum number of readings in a message. A message with more readings could be larger than NATS accepts. */
const READINGS_PER_MESSAGE = 300;

function messagesOf(
  { check, items, cause }: ReadableCheck,
  readings: ReadonlyMap<string, ItemReading>,
): Unstored[] {
  const { accountId, watchId, keywordId, checkId, part } = check;
  const own = items.map(({ eventId }) => readings.get(eventId)!);
  const at = isoOf(systemClock.now());
  return Array.from({ length: Math.ceil(own.length / READINGS_PER_MESSAGE) }, (_, n) => {
    const value = {
      checkId,
      part,
      readings: own.slice(n * READINGS_PER_MESSAGE, (n + 1) * READINGS_PER_MESSAGE),
    };
    const fact = create(ReadingFactSchema, {
      ...{ accountId, watchId, keywordId, at },
      fact: { case: 'itemsRead', value },
    });
    return {
      subject: subjectIn('READINGS', accountId, watchId),
      data: toBinary(ReadingFactSchema, fact),
      // The id comes from the first item. If an earlier attempt stored only some of the messages, this attempt begins
      // with the first item whose reading is not stored. So the message of this attempt has another id, and NATS does
      // not drop it as a duplicate.
      msgId: `${own[n * READINGS_PER_MESSAGE]?.eventId}:read`,
      cause,
    };
  });
}
