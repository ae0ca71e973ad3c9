import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { ReadingFactSchema, type Event } from '#contracts';
import { release } from '#credits';
import type { EventStore, Unstored } from '#event-store';
import { failpoint, isoOf, systemClock } from '#kernel';
import { subjectOf } from '#messaging';
import { DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { finishedEvent } from '../domain/finished-event.js';
import { answersOf, sameForAll, type ModelAnswers } from '../domain/model-answers.js';
import { EventRules } from '../rules/event-rules.js';
import type { OpenQuestion } from './model-questions.js';
import { dropQuestions, type ClaimedQuestion } from './waiting-questions.js';

/** Reads the content of questions, and stores their answers. Only the first answer that is appended counts. */
@Injectable()
export class QuestionAnswers {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
    private readonly rules: EventRules,
  ) {}

  /** Returns the questions with their content. Questions whose content was purged are dropped. */
  async load(claimed: readonly ClaimedQuestion[]): Promise<OpenQuestion[]> {
    const found = await Promise.all(
      claimed.map(async (one) => {
        const message = await this.store.at('READINGS', one.seq);
        const fact = message && fromBinary(ReadingFactSchema, message.data).fact;
        return fact?.case === 'asked' ? { claimed: one, asked: fact.value } : one;
      }),
    );
    await dropQuestions(
      this.database.manager,
      found.flatMap((one) => ('asked' in one ? [] : [one])),
    );
    return found.flatMap((one) => ('asked' in one ? [one] : []));
  }

  /**
   * Appends the final event of each question, unless another replica was first or the keyword was purged.
   * @throws the error of an event that could not be built, after the other events were appended
   */
  async append(answered: readonly Answered[]): Promise<void> {
    if (answered.length === 0) return;
    const results = await Promise.allSettled(answered.map((one) => this.finalOf(one)));
    await this.appendFinals(results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])));
    const failed = results.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
  }

  private async appendFinals(finals: readonly FinalMessage[]): Promise<void> {
    failpoint('readings-after-answer-before-append');
    const lost = await this.store.appendAll(finals);
    failpoint('readings-after-append');
    // Releases the reservations of events that have no charges. The charges of the other events settle their
    // reservations.
    const free = finals.filter((one) => !one.isCharged && !lost.has(one));
    await release(
      this.database.manager,
      free.map(({ claimed: { eventId } }) => ({ reservationId: eventId, holder: eventId })),
    );
    // The stream refused these answers: the question was answered before, or a purge has deleted it. The projection
    // deletes the questions whose answers were appended here.
    await dropQuestions(
      this.database.manager,
      [...lost].map(({ claimed }) => claimed),
    );
  }

  /** Returns the message with the final event. */
  private async finalOf({ question: { claimed, asked }, answers }: Answered): Promise<FinalMessage> {
    const { accountId, watchId, eventId, seq, cause } = claimed;
    const { draft } = asked;
    if (!draft) throw new Error(`question ${seq} of READINGS has no draft`);
    const finished = async (all: ModelAnswers) => {
      // Uses the rules that the keyword had when the question was stored. Later changes have no effect.
      const [event] = await this.rules.run(asked.rules, [finishedEvent(draft, answersOf(draft, all))]);
      return { data: factOf(event!), isCharged: event!.charges.length > 0 };
    };
    let final = await finished(answers);
    if (final.data.length > this.store.maxBytes) final = await finished(sameForAll(asked, TOO_LARGE));
    return {
      ...{ claimed, ...final, cause, expectedSeq: seq },
      subject: subjectOf('READINGS', accountId, watchId, eventId),
      msgId: `${eventId}:answered`,
    };
  }
}

/** A question and its answers. */
export interface Answered {
  question: OpenQuestion;
  answers: ModelAnswers;
}

/** The message with the final event of a question. */
interface FinalMessage extends Unstored {
  claimed: ClaimedQuestion;
  isCharged: boolean;
  expectedSeq: number;
}

const TOO_LARGE = { kind: 'none', why: 'the answer is too large' } as const;

function factOf(event: Event): Uint8Array {
  const { accountId, watchId, keywordId } = event;
  return toBinary(
    ReadingFactSchema,
    create(ReadingFactSchema, {
      ...{ accountId, watchId, keywordId, at: isoOf(systemClock.now()) },
      fact: { case: 'answered', value: { event } },
    }),
  );
}
