import { create } from '@bufbuild/protobuf';
import {
  READING_DEADLINE_MS,
  ReadingAskedSchema,
  type AgentStep,
  type Event,
  type ReadingAsked,
  type Rule,
} from '#contracts';
import { isoOf } from '#kernel';
import { finishedEvent } from './finished-event.js';

/** The readings that a keyword, or a lone watch, wants for its events. */
export interface WantedReadings {
  subject: { names: readonly string[]; role: string; about?: string };
  agentStep: AgentStep | undefined;
  /** Empty if the keyword wants no bucket. */
  bucketPreset: string;
  /** The keyword's rules, which run on the final event. */
  rules: readonly Rule[];
  /** True if the account can pay the readings of this event. */
  isPaid: boolean;
}

/** Presets whose buckets a language model finds better than rules do, or whose buckets only a model can find. */
const MODEL_PRESETS: ReadonlySet<string> = new Set(['product-model', 'theme-sentiment', 'custom']);

/**
 * Returns the question that an event waits for, or the final event if it waits for nothing. An event waits for nothing
 * if its item is dropped, there is no language model, the account cannot pay, or the keyword wants no reading of a
 * model. The event of a backfilled item is not pushed, so it gets no agent step.
 */
export function askedOrFinal(
  draft: Event,
  { subject, agentStep, bucketPreset, rules, isPaid }: WantedReadings,
  hasModel: boolean,
): { asked: ReadingAsked } | { final: Event } {
  if (draft.dropped) return { final: draft };
  const step = draft.backfilled ? undefined : agentStep;
  if (!hasModel || !isPaid) return { final: withoutModel(draft, agentStep) };
  const analysis = draft.analysis !== undefined;
  const preset = MODEL_PRESETS.has(bucketPreset) ? bucketPreset : '';
  if (!step && !analysis && preset === '') return { final: draft };
  return {
    asked: create(ReadingAskedSchema, {
      draft,
      deadline: isoOf(Date.parse(draft.occurredAt) + READING_DEADLINE_MS),
      subject: { ...subject, names: [...subject.names], about: subject.about ?? '' },
      analysis,
      bucketPreset: preset,
      rules: [...rules],
      ...(step && { agentStep: step }),
    }),
  };
}

/**
 * Returns the final event of a draft for which the language model is not asked. If the keyword has an agent step, the
 * event gets a failed one, unless its item is backfilled.
 */
export function withoutModel(draft: Event, agentStep: AgentStep | undefined): Event {
  if (!agentStep || draft.backfilled) return draft;
  return finishedEvent(draft, {
    ai: { status: 'failed', output: null, model: null, version: null },
    records: [],
  });
}
