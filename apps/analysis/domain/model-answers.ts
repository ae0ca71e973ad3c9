import { create } from '@bufbuild/protobuf';
import {
  AnalysisSchema,
  creditsPerReading,
  ReadingRecordSchema,
  type Bucket,
  type Event,
  type Intent,
  type PricedReading,
  type ReadingAsked,
  type ReadingRecord,
  type Sentiment,
} from '#contracts';
import type { Answers } from './finished-event.js';

/**
 * The result of one question to the model. `none`: the model refused to answer, or its answer was invalid or too large.
 * `late`: the deadline passed during the request. `missed`: the model could not be asked, because it was not available
 * or no replica asked in time.
 */
export type ModelResult<T> =
  | { kind: 'answered'; value: T; model: string; promptVersion: string; durationMs: number }
  | { kind: 'none' | 'late' | 'missed'; why: string };

/** The results for one event. A key is absent if the model was not asked for this reading. */
export interface ModelAnswers {
  analysis?: ModelResult<{
    sentiment: Sentiment;
    sentimentScore: number;
    sentimentReason: string;
    intent: Intent;
    intentReason: string;
  }>;
  bucket?: ModelResult<Bucket | null>;
  /** The agent step. */
  step?: ModelResult<object>;
}

/** Returns the given result for each reading that a question asks for. */
export function sameForAll(
  { analysis, bucketPreset, agentStep }: ReadingAsked,
  result: ModelResult<never>,
): ModelAnswers {
  return {
    ...(analysis && { analysis: result }),
    ...(bucketPreset !== '' && { bucket: result }),
    ...(agentStep && { step: result }),
  };
}

/**
 * Returns the answers that make the draft final.
 * - If the model did not read sentiment and intent, the values of the local reader stay.
 * - If the model was not asked about the bucket, or did not answer in time, the local bucket stays.
 * - If the model's answer about the bucket was invalid or too large, or the model refused to answer, the event has no
 *   bucket.
 */
export function answersOf(draft: Event, { analysis, bucket, step }: ModelAnswers): Answers {
  const records: ReadingRecord[] = [];
  const answers: { -readonly [K in keyof Answers]: Answers[K] } = { records };
  if (analysis?.kind === 'answered' && draft.analysis) {
    const { sentiment, sentimentScore, sentimentReason, intent, intentReason } = analysis.value;
    const reasons = [draft.relevanceReason, sentimentReason, intentReason].filter((reason) => reason !== '');
    answers.analysis = create(AnalysisSchema, {
      ...draft.analysis,
      sentiment,
      sentimentScore: Math.round(sentimentScore * 100) / 100,
      intent,
      reason: [...new Set(reasons)].join('; '),
      reader: 'llm',
      model: analysis.model,
      version: analysis.promptVersion,
    });
    records.push(recordOf('analysis', analysis, intentReason, true));
  } else if (analysis && analysis.kind !== 'answered')
    records.push(...localRecords(draft, 'analysis', analysis.why));
  if (bucket?.kind === 'answered') {
    answers.bucket = bucket.value;
    records.push(recordOf('bucket', bucket, bucket.value?.key ?? 'none', bucket.value !== null));
  } else if (bucket?.kind === 'none') {
    answers.bucket = null;
    records.push(failureOf('bucket', bucket.why));
  } else if (bucket) records.push(...localRecords(draft, 'bucket', bucket.why));
  if (step?.kind === 'answered') {
    answers.ai = { status: 'completed', output: step.value, model: step.model, version: step.promptVersion };
    records.push(recordOf('agent_step', step, '', true));
  } else if (step) {
    const status = step.kind === 'late' ? 'timeout' : 'failed';
    answers.ai = { status, output: null, model: null, version: null };
    records.push(failureOf('agent_step', step.why));
  }
  return answers;
}

function recordOf(
  kind: PricedReading,
  { model, promptVersion, durationMs }: Extract<ModelResult<unknown>, { kind: 'answered' }>,
  detail: string,
  isCharged: boolean,
): ReadingRecord {
  return create(ReadingRecordSchema, {
    kind,
    reader: 'llm',
    model,
    version: promptVersion,
    promptVersion,
    durationMs,
    costCredits: isCharged ? creditsPerReading(kind) : 0,
    detail,
  });
}

function failureOf(kind: PricedReading, why: string): ReadingRecord {
  return create(ReadingRecordSchema, { kind, reader: 'llm', detail: why });
}

/** Returns the local reader's record, with the reason why the model did not replace it. */
function localRecords({ readings }: Event, kind: PricedReading, why: string): ReadingRecord[] {
  return readings
    .filter((record) => record.kind === kind)
    .map((record) =>
      create(ReadingRecordSchema, { ...record, detail: [record.detail, why].filter(Boolean).join('; ') }),
    );
}
