import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Controller, Inject } from '@nestjs/common';
import type { JsMsg } from '@nats-io/jetstream';
import {
  CheckSchema,
  EventSchema,
  ReadingFactSchema,
  type Check,
  type Event,
  type ItemReading,
  type ReadingAsked,
} from '#contracts';
import { release } from '#credits';
import type { EventStore, Unstored } from '#event-store';
import { failpoint, isoOf, systemClock } from '#kernel';
import { done, park, subjectOf, wasHandledBefore, type Outcome } from '#messaging';
import { DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { causeOf } from '#telemetry';
import { ConsumerPattern } from '#transport';
import { askedOrFinal, withoutModel, type WantedReadings } from '../domain/reading-asked.js';
import { ItemReadings, type LocalReadings } from '../readings/item-readings.js';
import { LLM } from '../readings/llm.js';
import { subjectOf as readingSubjectOf } from '../readings/readable.js';
import { EventRules } from '../rules/event-rules.js';
import { knownWatches, withoutWatch } from '../readmodels/check-sink.js';
import { storedEventIds } from './stored-events.js';
import { draftsOf, partsOf, treatedCheck, type Earlier, type TreatedCheck } from './treated-check.js';
import { settingsOf, type WatchSettings } from './treatment.js';

/**
 * Converts checks to events. Applies mutes and VIPs, makes the readings, applies the drops that depend on readings, and
 * then runs the rules. An event that needs a reading of the language model is stored as a question, and is published
 * after the question is answered.
 */
@Controller()
export class ChecksHandler {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
    private readonly readings: ItemReadings,
    private readonly rules: EventRules,
    @Inject(LLM) private readonly llm: object | undefined,
  ) {}

  // A check has at most 1,000 items, and the reader needs a few milliseconds for an item. So a batch ends within
  // minutes.
  @ConsumerPattern({ stream: 'CHECKS', name: 'analysis-events', batchSize: 30 })
  async handle(batch: readonly CheckMessage[]): Promise<Outcome[]> {
    const checks = batch.map(({ data }) => parse(data));
    const watchIds = checks.flatMap((check) => (check && check.items.length > 0 ? [check.watchId] : []));
    const settings =
      watchIds.length > 0 ? await settingsOf(this.database, watchIds) : new Map<string, WatchSettings>();
    const checksOfBatch = await Promise.all(
      batch.map(async (message, index) => {
        const check = checks[index];
        const own = check && settings.get(check.watchId);
        if (!check || !own) return [];
        return [treatedCheck(check, own, await this.earlierOf(message, check), causeOf(message))];
      }),
    ).then((found) => found.flat());
    let read: ReadPart | undefined;
    // The reader uses a separate thread, so it can read the next part while the current part is stored and published.
    for (const part of [...partsOf(checksOfBatch), undefined]) {
      const steps = [part && this.read(part), read && this.publish(read)] as const;
      // Waits for both steps, even if one of them fails. After a failure, each message is handled alone, and by then all
      // publishing must have ended.
      await Promise.allSettled(steps);
      [read] = await Promise.all(steps);
    }
    if (checksOfBatch.some((one) => one.treated.size > 0)) failpoint('analysis-after-publish-before-ack');
    return Promise.all(checks.map((check) => this.outcomeOf(check, settings)));
  }

  /** Returns what earlier attempts at the message have stored; undefined for the first attempt. */
  private async earlierOf(message: CheckMessage, check: Check): Promise<Earlier | undefined> {
    if (!wasHandledBefore(message)) return undefined;
    const [events, readings] = await Promise.all([
      storedEventIds(this.store, check, check.finishedAt),
      this.readings.storedOf(check),
    ]);
    return { events, readings };
  }

  private async read(checks: readonly TreatedCheck[]): Promise<ReadPart> {
    return { checks, local: await this.readings.readLocally(checks) };
  }

  private async publish({ checks, local }: ReadPart): Promise<void> {
    // The readings can have taken long. If a keyword was purged meanwhile, nothing about this keyword is written.
    const known = await knownWatches(
      this.database,
      checks.map(({ check }) => check.watchId),
    );
    const own = checks.filter(({ check }) => known.has(check.watchId));
    const readings = await this.readings.complete(own, local);
    const results = await Promise.all(own.map((one) => this.resultsOf(one, readings)));
    await this.store.publishAll(results.flatMap(({ messages }) => messages));
    await this.release(results.flatMap(({ final }) => final));
  }

  /** Releases the reservations of events that cost nothing. The charges settle the reservations of the other events. */
  private async release(final: readonly Event[]): Promise<void> {
    if (!this.llm) return;
    const free = final.filter(({ charges }) => charges.length === 0);
    await release(
      this.database,
      free.map(({ eventId }) => ({ reservationId: eventId, holder: eventId })),
    );
  }

  /** Returns final events for EVENTS, and questions for READINGS. */
  private async resultsOf(
    one: TreatedCheck,
    readings: ReadonlyMap<string, ItemReading>,
  ): Promise<{ messages: Unstored[]; final: readonly Event[] }> {
    const results = await Promise.all(
      draftsOf(one, readings).map(async (draft) => {
        // The question is already stored. Its event is published with the answer, even if the language model was
        // removed meanwhile.
        if (one.isRepeated && (await this.isAsked(draft))) return [];
        return [this.questionOrFinal(draft, wantedOf(one, readings.get(draft.eventId)), one.cause)];
      }),
    );
    const all = results.flat();
    const final = all.flatMap((result) => ('final' in result ? [result.final] : []));
    const events = await this.rules.run(one.settings.definition?.rules ?? [], final);
    const questions = all.flatMap((result) => ('question' in result ? [result.question] : []));
    return {
      messages: [...questions, ...events.map((event) => messageOf(event, one.cause))],
      final: events,
    };
  }

  private async isAsked(draft: Event): Promise<boolean> {
    return (await this.store.lastSeq('READINGS', questionSubject(draft))) > 0;
  }

  private questionOrFinal(
    draft: Event,
    wanted: WantedReadings,
    cause: string | undefined,
  ): { question: Unstored } | { final: Event } {
    const result = askedOrFinal(draft, wanted, this.llm !== undefined);
    if ('final' in result) return result;
    const question = questionOf(draft, result.asked, cause);
    if (question.data.length <= this.store.maxBytes) return { question };
    // If the question is too large for a message, the event is built as if there were no language model.
    return { final: withoutModel(draft, wanted.agentStep) };
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

/** A message of CHECKS. */
type CheckMessage = Pick<JsMsg, 'data' | 'redelivered'> & Partial<Pick<JsMsg, 'headers'>>;

/** Checks of a batch (or parts of checks), with the readings of their items. */
interface ReadPart {
  checks: readonly TreatedCheck[];
  local: LocalReadings;
}

/** Returns the readings that the settings want for an item of the check. */
function wantedOf({ settings }: TreatedCheck, reading: ItemReading | undefined): WantedReadings {
  const { definition, agentStep } = settings;
  return {
    subject: readingSubjectOf(settings),
    agentStep,
    bucketPreset: (definition?.aiEnabled && definition.aiPreset) || '',
    rules: definition?.rules ?? [],
    isPaid: reading?.unreadReason === '',
  };
}

function questionOf(draft: Event, asked: ReadingAsked, cause: string | undefined): Unstored {
  const { accountId, watchId, keywordId, eventId } = draft;
  const fact = create(ReadingFactSchema, {
    ...{ accountId, watchId, keywordId, at: isoOf(systemClock.now()) },
    fact: { case: 'asked', value: asked },
  });
  return {
    subject: questionSubject(draft),
    data: toBinary(ReadingFactSchema, fact),
    msgId: `${eventId}:asked`,
    cause,
  };
}

function questionSubject({ accountId, watchId, eventId }: Event): string {
  return subjectOf('READINGS', accountId, watchId, eventId);
}

function parse(data: Uint8Array): Check | undefined {
  try {
    return fromBinary(CheckSchema, data);
  } catch {
    return undefined;
  }
}
