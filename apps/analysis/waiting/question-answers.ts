import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { ReadingFactSchema, type Event } from '#contracts';
import { release } from '#credits';
import { AppendConflict, type EventStore } from '#event-store';
import { failpoint, isoOf, systemClock } from '#kernel';
import { subjectOf } from '#messaging';
import { DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { continueTrace } from '#telemetry';
import { finishedEvent } from '../domain/finished-event.js';
import { answersOf, toldForAll, type ModelAnswers } from '../domain/model-answers.js';
import { EventRules } from '../rules/event-rules.js';
import type { OpenQuestion } from './model-questions.js';
import { dropQuestions, type Claimed } from './waiting-questions.js';

/** Reads the content of questions, and stores their answers: each question gets one answer, whoever answers first. */
@Injectable()
export class QuestionAnswers {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
    private readonly rules: EventRules,
  ) {}

  /** The questions with their content. Questions whose content was purged are dropped. */
  async open(claimed: readonly Claimed[]): Promise<OpenQuestion[]> {
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

  /** Appends the final event of each question, unless another replica was first or the keyword was purged. */
  async append(answered: readonly Answered[]): Promise<void> {
    const outcomes = await Promise.all(
      answered.map((one) => continueTrace(one.question.claimed.cause, () => this.appendOne(one))),
    );
    const claimedWith = (wanted: Outcome) =>
      answered.flatMap(({ question }, n) => (outcomes[n] === wanted ? [question.claimed] : []));
    // A charge settles the reservation of the others.
    await release(
      this.database.manager,
      claimedWith('free').map(({ eventId }) => ({ holdId: eventId, holder: eventId })),
    );
    // The projection deletes the others.
    await dropQuestions(this.database.manager, claimedWith('lost'));
  }

  private async appendOne({ question: { claimed, asked }, answers }: Answered): Promise<Outcome> {
    const { accountId, watchId, eventId, seq } = claimed;
    const { draft } = asked;
    if (!draft) throw new Error(`question ${seq} of READINGS has no draft`);
    const finished = async (all: ModelAnswers) => {
      // The rules of the time of the question: a change meanwhile has no effect.
      const [event] = await this.rules.run(asked.rules, [finishedEvent(draft, answersOf(draft, all))]);
      return { data: factOf(event!), outcome: event!.charges.length > 0 ? 'charged' : 'free' } as const;
    };
    let { data, outcome } = await finished(answers);
    if (data.length > this.store.mostBytes)
      ({ data, outcome } = await finished(toldForAll(asked, TOO_LARGE)));
    const subject = subjectOf('READINGS', accountId, watchId, eventId);
    failpoint('readings-after-answer-before-append');
    try {
      await this.store.append(subject, data, seq, `${eventId}:answered`);
    } catch (error) {
      if (error instanceof AppendConflict) return 'lost';
      throw error;
    }
    failpoint('readings-after-append');
    return outcome;
  }
}

/** `lost`: another replica was first, or the keyword was purged. `free`: the event costs nothing. */
type Outcome = 'charged' | 'free' | 'lost';

/** A question and its answers. */
export interface Answered {
  question: OpenQuestion;
  answers: ModelAnswers;
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
