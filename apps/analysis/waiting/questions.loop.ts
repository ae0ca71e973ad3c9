import { Inject, Injectable } from '@nestjs/common';
import { READING_DEADLINE_MS } from '#contracts';
import { Repeated, within } from '#kernel';
import type { Llm } from '#llm';
import { BUS, DATABASE, LOG, type Loop } from '#platform';
import type { Bus } from '#messaging';
import type { Database } from '#postgres';
import { forgetOldPositions } from '#projections';
import { metrics, type Logger } from '#telemetry';
import { sameForAll, type ModelResult } from '../domain/model-answers.js';
import { waitingReadingsProjection } from '../projections/waiting-readings.projection.js';
import { ModelQuestions } from './model-questions.js';
import { QuestionAnswers, type Answered } from './question-answers.js';
import {
  CLAIM_SECONDS,
  claimOverdue,
  claimUnaskable,
  claimWithoutModel,
  giveBack,
  renewClaims,
  Turns,
  type ClaimedQuestion,
} from './waiting-questions.js';

/**
 * How long the loop pauses with a language model, and without one. Without a model, the only waiting
 * questions are those that were stored before the model was removed.
 */
const ASK_PAUSE_MS = 100;
const LOCAL_PAUSE_MS = 1_000;
const OVERDUE_PAUSE_MS = 500;
const MEASURE_EVERY_MS = 5_000;
const FORGET_EVERY_MS = 3_600_000;
/** How long a stop waits for running requests. */
const STOP_TIMEOUT_MS = 2_000;

const DOWN: ModelResult<never> = { kind: 'missed', why: 'the language model did not answer: read locally' };
const NO_MODEL: ModelResult<never> = { kind: 'missed', why: 'LLM_URL is not set any more' };
const OVERDUE: ModelResult<never> = { kind: 'missed', why: 'the language model could not be asked in time' };
const LATE: ModelResult<never> = { kind: 'late', why: 'the language model did not answer in time' };

/**
 * Asks the language model the stored questions, as fast as the model's lane allows. Finishes the events whose deadline
 * has passed, or will pass before the model can be asked. Every replica does this. One replica at a time holds the claim
 * of a question. If that replica stops renewing the claim, another replica takes the question.
 */
@Injectable()
export class QuestionsLoop implements Loop {
  readonly name = 'readings';
  private readonly turns: Turns;
  private readonly underWay = new Map<string, Promise<void>>();
  private readonly repeated: readonly Repeated[];

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(BUS) private readonly bus: Bus,
    private readonly questions: ModelQuestions,
    private readonly answers: QuestionAnswers,
    @Inject(LOG) private readonly log: Logger,
  ) {
    this.turns = new Turns(database);
    const repeat = (pauseMs: number, what: string, run: () => Promise<boolean | void>) =>
      new Repeated({ pauseMs, run, failed: (error) => log.error({ err: error }, `${what} failed`) });
    this.repeated = [
      repeat(questions.llm ? ASK_PAUSE_MS : LOCAL_PAUSE_MS, 'asking the language model', () => this.ask()),
      // Overdue events are finished separately: they must not wait for turns of the model's lane, and turns must not
      // wait for many overdue events.
      repeat(OVERDUE_PAUSE_MS, 'finishing overdue events', () => this.finishOverdue()),
      repeat((CLAIM_SECONDS * 1000) / 3, 'renewing claims', () =>
        renewClaims(database, [...this.underWay.keys()]),
      ),
      repeat(MEASURE_EVERY_MS, 'measuring the events that wait', () => this.measure()),
      repeat(FORGET_EVERY_MS, 'deleting old positions', () => this.forget()),
    ];
  }

  start(): void {
    for (const one of this.repeated) one.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.repeated.map((one) => one.stop()));
    await within(STOP_TIMEOUT_MS, Promise.all(this.underWay.values()));
    // Closing the client makes running requests fail. Then their claims end, so that another replica can ask these
    // questions soon.
    await this.questions.llm?.close();
    await Promise.all(this.underWay.values());
  }

  /** @returns true if there can be more work now */
  private async ask(): Promise<boolean> {
    const { llm } = this.questions;
    // The model is asked first. While the server is down, the next statement claims the questions that have no agent
    // step. If it ran first, there could be no question left to test whether the server works again.
    const begun = llm ? await this.begin(llm) : 0;
    const local = !llm || (await llm.lane.isStillDown()) ? await claimWithoutModel(this.database, !llm) : [];
    await this.finish(local, () => (llm ? DOWN : NO_MODEL));
    return local.length + begun > 0;
  }

  /** @returns true if there can be more work now */
  private async finishOverdue(): Promise<boolean> {
    const overdue = await claimOverdue(this.database);
    await this.finish(overdue, ({ wasUnderWay }) => (wasUnderWay ? LATE : OVERDUE));
    // A server can ask for a wait of hours. Without this step, every event would wait for its deadline without getting
    // an answer.
    const blockedForMs = this.questions.llm?.lane.blockedForMs ?? 0;
    const unaskable = blockedForMs > 0 ? await claimUnaskable(this.database, blockedForMs) : [];
    await this.finish(unaskable, () => OVERDUE);
    return overdue.length + unaskable.length > 0;
  }

  /** Answers questions without asking the model. */
  private async finish(
    claimed: readonly ClaimedQuestion[],
    resultOf: (one: ClaimedQuestion) => ModelResult<never>,
  ): Promise<void> {
    if (claimed.length === 0) return;
    const open = await this.answers.load(claimed);
    await this.answers.append(
      open.map((question) => ({ question, answers: sameForAll(question.asked, resultOf(question.claimed)) })),
    );
  }

  /** Begins as many turns as the lane has room for. @returns the number of turns */
  private async begin({ lane }: Llm): Promise<number> {
    let begun = 0;
    for (const { room } = lane; begun < room && this.underWay.size < lane.concurrency; begun += 1) {
      const claimed = await this.turns.next();
      const [first] = claimed;
      if (!first) break;
      const turn = this.turn(claimed)
        .catch((error: unknown) =>
          this.log.error(
            { err: error, watchId: first.watchId },
            'questions could not be asked; they are asked again',
          ),
        )
        .finally(() => this.underWay.delete(first.claim));
      this.underWay.set(first.claim, turn);
    }
    return begun;
  }

  private async turn(claimed: readonly ClaimedQuestion[]): Promise<void> {
    const open = await this.answers.load(claimed);
    const results = await this.questions.ask(open);
    const answered: Answered[] = [];
    const dueAt = new Map<number, ClaimedQuestion[]>();
    open.forEach((question, index) => {
      const answers = results[index]!;
      if (!('waitMs' in answers)) answered.push({ question, answers });
      else {
        const at = Math.min(Date.now() + answers.waitMs, question.claimed.deadlineAt);
        dueAt.set(at, [...(dueAt.get(at) ?? []), question.claimed]);
      }
    });
    await this.answers.append(answered);
    for (const [at, questions] of dueAt) await giveBack(this.database, questions, at);
  }

  private async measure(): Promise<void> {
    const [row] = await this.database.query<{ waiting: number; oldest: number | null }[]>(
      `SELECT count(*)::int AS waiting, extract(epoch FROM now() - min(deadline_at))::float8 AS oldest FROM waiting_readings`,
    );
    metrics.waitingReadings.set({}, row?.waiting ?? 0);
    const waitedMs = READING_DEADLINE_MS + (row?.oldest ?? -READING_DEADLINE_MS / 1000) * 1000;
    metrics.oldestWaitingReading.set({}, Math.max(0, waitedMs / 1000));
  }

  /** Deletes the positions (the last applied sequence of each subject) of messages that READINGS no longer contains. */
  private async forget(): Promise<void> {
    const { state } = await this.bus.jsm.streams.info('READINGS');
    await forgetOldPositions(this.database.manager, waitingReadingsProjection, state.first_seq);
  }
}
