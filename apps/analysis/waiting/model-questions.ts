import { create } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { BucketSchema, type Bucket, type ReadingAsked, type Subject, type SubjectRole } from '#contracts';
import {
  agentStepReading,
  analysisReading,
  asLlmItem,
  bucketReading,
  LlmError,
  retryWaitMs,
  type BucketAnswer,
  type Llm,
  type LlmBucketPreset,
  type LlmReading,
  type ReadSubject,
} from '#llm';
import { bucketKey } from '../domain/local-bucket.js';
import type { ModelAnswers, ModelResult } from '../domain/model-answers.js';
import { ItemBuckets } from '../readings/item-buckets.js';
import { LLM } from '../readings/llm.js';
import type { ClaimedQuestion } from './waiting-questions.js';

/** A claimed question with its content. */
export interface OpenQuestion {
  claimed: ClaimedQuestion;
  asked: ReadingAsked;
}

/** The result of a question without an answer: the question is tried again after `waitMs`. */
export interface RetryLater {
  waitMs: number;
}

/** Maximum length of an item's text in a request for an analysis or a bucket. The request can contain other items. */
const BATCH_CHARACTERS = 2_000;
/** Maximum length of an item's text in a request for an agent step. The request contains no other item. */
const STEP_CHARACTERS = 12_000;

/** Asks the model about the questions of one watch. */
@Injectable()
export class ModelQuestions {
  constructor(
    @Inject(LLM) readonly llm: Llm | undefined,
    private readonly buckets: ItemBuckets,
  ) {}

  /** Asks the model. @returns for each question the answers, or how long to wait before it is tried again */
  async ask(questions: readonly OpenQuestion[]): Promise<(ModelAnswers | RetryLater)[]> {
    const { llm } = this;
    if (!llm) throw new Error('there is no language model');
    const [analyses, buckets, steps] = await Promise.all([
      askInGroups(
        llm,
        questions.filter(({ asked }) => asked.analysis),
        analysisOf,
      ),
      askInGroups(
        llm,
        questions.filter(({ asked }) => asked.bucketPreset !== ''),
        bucketOf,
      ),
      askSeparately(
        llm,
        questions.filter(({ asked }) => asked.agentStep !== undefined),
      ),
    ]);
    const labelled = await this.labelled(questions, buckets);
    return questions.map((question) => {
      const analysis = analyses.get(question);
      const bucket = labelled.get(question);
      const step = steps.get(question);
      const waits = [analysis, bucket, step].flatMap((result) =>
        result && 'waitMs' in result ? [result.waitMs] : [],
      );
      if (waits.length > 0) return { waitMs: Math.max(...waits) };
      return {
        ...(analysis && { analysis }),
        ...(bucket && { bucket }),
        ...(step && { step }),
      } as ModelAnswers;
    });
  }

  /** Gives each bucket a key, and the first label that was stored for this key. */
  private async labelled(
    questions: readonly OpenQuestion[],
    found: ReadonlyMap<OpenQuestion, ModelResult<BucketAnswer> | RetryLater>,
  ): Promise<Map<OpenQuestion, ModelResult<Bucket | null> | RetryLater>> {
    const named = questions.flatMap((question) => {
      const result = found.get(question);
      const bucket = result && 'value' in result ? namedBucket(result.value) : undefined;
      const { keywordId = '', watchId = '' } = question.asked.draft ?? {};
      return bucket ? [{ question, bucket: { ...bucket, ownerId: keywordId || watchId } }] : [];
    });
    const labels = await this.buckets.labels(named.map(({ bucket }) => bucket));
    const byQuestion = new Map(
      named.map(({ question, bucket: { key } }, index) => [
        question,
        create(BucketSchema, { key, label: labels[index]! }),
      ]),
    );
    return new Map(
      [...found].map(([question, result]) => [
        question,
        'value' in result ? { ...result, value: byQuestion.get(question) ?? null } : result,
      ]),
    );
  }
}

function namedBucket({ label, sentiment }: BucketAnswer): { key: string; label: string } | undefined {
  const key = bucketKey(label ?? '');
  if (label === null || key === '') return undefined;
  // Postgres cannot store U+0000, and models repeat the text of posts.
  const shown = label.replaceAll('\0', '').toWellFormed().trim();
  return sentiment === undefined
    ? { key, label: shown }
    : { key: `${key}-${sentiment}`, label: `${shown}: ${sentiment}` };
}

function subjectOf(subject: Subject | undefined): ReadSubject {
  return {
    names: subject?.names ?? [],
    role: (subject?.role || 'own') as SubjectRole,
    about: subject?.about ?? '',
  };
}

const analysisOf = ({ subject }: ReadingAsked) => analysisReading(subjectOf(subject));
const bucketOf = ({ subject, bucketPreset }: ReadingAsked) =>
  bucketReading(bucketPreset as LlmBucketPreset, subjectOf(subject));

/**
 * Sends one request for all questions that have the same instructions. The questions of a watch have different
 * instructions only after a change of settings.
 */
async function askInGroups<T>(
  llm: Llm,
  questions: readonly OpenQuestion[],
  readingOf: (asked: ReadingAsked) => LlmReading<T>,
): Promise<Map<OpenQuestion, ModelResult<T> | RetryLater>> {
  const groups = new Map<string, { reading: LlmReading<T>; members: OpenQuestion[] }>();
  for (const question of questions) {
    const reading = readingOf(question.asked);
    const group = groups.get(reading.instructions) ?? { reading, members: [] };
    group.members.push(question);
    groups.set(reading.instructions, group);
  }
  const answered = await Promise.all(
    [...groups.values()].map(({ reading, members }) => askTogether(llm, reading, members, BATCH_CHARACTERS)),
  );
  return new Map(answered.flatMap((results) => [...results]));
}

async function askSeparately(
  llm: Llm,
  questions: readonly OpenQuestion[],
): Promise<Map<OpenQuestion, ModelResult<object> | RetryLater>> {
  const answered = await Promise.all(
    questions.map((question) => {
      const { instruction = '', schema = {} } = question.asked.agentStep ?? {};
      return askTogether(llm, agentStepReading(instruction, schema), [question], STEP_CHARACTERS);
    }),
  );
  return new Map(answered.flatMap((results) => [...results]));
}

async function askTogether<T>(
  llm: Llm,
  reading: LlmReading<T>,
  members: readonly OpenQuestion[],
  characters: number,
): Promise<[OpenQuestion, ModelResult<T> | RetryLater][]> {
  const items = members.map(({ asked }) => {
    const item = asked.draft?.matched?.item;
    return asLlmItem(item ?? { source: '', kind: '', title: '', text: '' }, characters);
  });
  const endsAt = Math.min(...members.map(({ claimed }) => claimed.deadlineAt));
  try {
    const { values, failure, model, promptVersion, durationMs } = await llm.askOnce(reading, items, endsAt);
    return members.map((member, index) => {
      const value = values[index];
      if (value !== undefined) return [member, { kind: 'answered', value, model, promptVersion, durationMs }];
      if (failure) return [member, failureOf(failure, member.claimed)];
      return [member, { kind: 'none', why: 'the language model gave no valid answer' }];
    });
  } catch (error) {
    if (!(error instanceof LlmError)) throw error;
    return members.map((member) => [member, failureOf(error, member.claimed)]);
  }
}

function failureOf(error: LlmError, { deadlineAt, tries }: ClaimedQuestion): ModelResult<never> | RetryLater {
  const { kind, isTemporary } = error;
  if (kind === 'deadline')
    return Date.now() >= deadlineAt
      ? { kind: 'late', why: 'the language model did not answer in time' }
      : { waitMs: 0 };
  // The question is due again now, because another replica can have room. This replica's loop begins no turn before its
  // lane has room again.
  if (kind === 'no_turn') return { waitMs: 0 };
  if (isTemporary) return { waitMs: retryWaitMs(error, tries) };
  return { kind: 'none', why: 'the language model refused the request, or its answer was too large' };
}
