import { Inject, Injectable } from '@nestjs/common';
import PQueue from 'p-queue';
import type { RunAnalysis } from '#contracts';
import { EmbeddingsUnavailable } from '#embeddings';
import { Refusal, Running, systemClock } from '#kernel';
import {
  agentStepReading,
  asLlmItem,
  LlmError,
  type AgentStepFields,
  type Llm,
  type LlmItem,
  type LlmReading,
} from '#llm';
import { LLM } from '../readings/llm.js';
import { AnalysedMentions, type AnalysedMention } from './analysed-mentions.js';
import { classify, type ClassifiedMention } from './classify.js';
import { group, type MentionGroup } from './group.js';
import { classReading } from './class-reading.js';
import { pointReading } from './point-reading.js';
import { summaryOf, mean, pointsOf, sentencesOf, type Summary } from './summarise.js';
import { topicReading } from './topic-reading.js';

/** The result of an analysis. Mentions in `errors` were not analysed, and are not charged. */
export interface AnalysisResult {
  groups?: MentionGroup[];
  labels?: ClassifiedMention[];
  outputs?: { mentionId: string; status: 'completed'; output: Record<string, unknown> }[];
  summary?: Summary;
  errors: { mentionId: string; code: string }[];
}

/** The model's value or an error code for each item. */
interface Answers<T> {
  values: (T | undefined)[];
  codes: (string | undefined)[];
}

/** Maximum length of a mention's text in a question to the model. */
const MODEL_CHARACTERS = 4_000;
const ITEMS_IN_REQUEST = 8;
/** Maximum time for the model's answers. The gateway waits longer than this time. */
const MODEL_TIMEOUT_MS = 100_000;

const NO_SUMMARY: Summary = { text: '', sentences: [], reader: 'local' };

/** Groups, classifies or summarises mentions, or carries out an instruction on each mention. */
@Injectable()
export class AnalysisWork {
  /**
   * The analyses of one process use at most half of the slots of the model's lane, but at least one. The analyses of
   * several replicas together can use all slots. If another request has then waited for a second, the next free slot is
   * kept for it.
   */
  private readonly requests: PQueue;
  /** The requests of each account that wait or run. An account that has many comes after the others. */
  private readonly ofAccount = new Running();

  constructor(
    private readonly mentions: AnalysedMentions,
    @Inject(LLM) private readonly llm: Llm | undefined,
  ) {
    this.requests = new PQueue({ concurrency: Math.max(1, Math.floor((llm?.lane.concurrency ?? 1) / 2)) });
  }

  /**
   * Runs the command on the mentions.
   * @throws EmbeddingsUnavailable; Refusal `unavailable` if an instruction must be carried out on each mention, which
   *   needs a language model, and there is none
   */
  async run(command: RunAnalysis, mentions: readonly AnalysedMention[]): Promise<AnalysisResult> {
    switch (command.operation) {
      case 'group':
        return this.group(command, mentions);
      case 'classify':
        return this.classify(command, mentions);
      case 'summarise':
        return this.summarise(command, mentions);
      default:
        return this.agent(command, mentions);
    }
  }

  /**
   * Groups mentions. A language model, if there is one, states the topic of each mention. A mention without a topic is
   * grouped by its text.
   */
  private async group(
    { accountId, instruction }: RunAnalysis,
    mentions: readonly AnalysedMention[],
  ): Promise<AnalysisResult> {
    const { values } = await this.readIfAvailable(
      accountId,
      mentions.map(asModelInput),
      topicReading(instruction),
    );
    const topics = new Map(mentions.map(({ id }, n) => [id, values[n]]));
    const about = mentions.map((mention) => ({ ...mention, own: topics.get(mention.id) ?? mention.own }));
    return this.local(about, (withVectors) => ({
      groups: group(withVectors.map((one) => ({ ...one, topic: topics.get(one.id) }))),
    }));
  }

  private async local(
    mentions: readonly AnalysedMention[],
    work: (
      withVectors: Awaited<ReturnType<AnalysedMentions['withVectors']>>,
    ) => Partial<AnalysisResult> | Promise<Partial<AnalysisResult>>,
  ): Promise<AnalysisResult> {
    const withVectors = await this.mentions.withVectors(mentions);
    const done = new Set(withVectors.map(({ id }) => id));
    const withoutText = mentions
      .filter(({ id }) => !done.has(id))
      .map(({ id }) => ({ mentionId: id, code: 'NO_TEXT' }));
    const { errors = [], ...result } = await work(withVectors);
    return { ...result, errors: [...withoutText, ...errors] };
  }

  /**
   * Classifies mentions. A language model, if there is one, reads each mention with text. The local model classifies the
   * mentions for which the language model gave no answer. If no class has a vector, these mentions get an error.
   * @throws EmbeddingsUnavailable also if no class has a vector and the language model gave no answer at all
   */
  private async classify(
    command: RunAnalysis,
    mentions: readonly AnalysedMention[],
  ): Promise<AnalysisResult> {
    const { accountId, classes, instruction } = command;
    const vectors = await this.mentions.vectors(classes);
    const hasClassVector = vectors.some((one) => one !== undefined);
    return this.local(mentions, async (withVectors) => {
      const usable = new Set(withVectors.map(({ id }) => id));
      // A mention without a vector has an error already, so the model's answer would be lost.
      const asked = mentions.filter(({ id }) => usable.has(id));
      const { values, codes } = await this.readIfAvailable(
        accountId,
        asked.map(asModelInput),
        classReading(classes, instruction),
      );
      const unread = withVectors.filter((_, n) => !values[n]);
      const compared = new Map(
        hasClassVector ? classify(unread, classes, vectors).map((one) => [one.mentionId, one]) : [],
      );
      const labels = withVectors.flatMap(({ id }, n) =>
        values[n] ? { mentionId: id, ...values[n] } : (compared.get(id) ?? []),
      );
      if (labels.length === 0 && withVectors.length > 0)
        throw new EmbeddingsUnavailable('the embeddings server refuses the names of all classes');
      const errors = withVectors.flatMap(({ id }, n) =>
        values[n] || compared.has(id) ? [] : { mentionId: id, code: codes[n] ?? 'FAILED' },
      );
      return { labels, errors };
    });
  }

  private async summarise(
    { accountId, instruction }: RunAnalysis,
    mentions: readonly AnalysedMention[],
  ): Promise<AnalysisResult> {
    const sentences = mentions.flatMap(({ id, own }) =>
      sentencesOf(own).map((text) => ({ mentionId: id, text })),
    );
    const vectors = await this.mentions.vectors(sentences.map(({ text }) => text));
    const [focus] = instruction === '' ? [] : await this.mentions.vectors([instruction]);
    const withVectors = sentences.flatMap((one, n) => (vectors[n] ? [{ ...one, vector: vectors[n] }] : []));
    const withText = new Set(withVectors.map(({ mentionId }) => mentionId));
    const centre = focus ?? mean((await this.mentions.withVectors(mentions)).map(({ vector }) => vector));
    const points = pointsOf(withText.size, withVectors, centre);
    const items = points.map(({ wordings }) => ({ text: wordings.join('\n') }));
    const { values: written } = await this.readIfAvailable(accountId, items, pointReading(instruction));
    const rewritten = points.map((point, n) => ({ ...point, text: written[n] ?? point.text }));
    const reader = written.some((one) => one !== undefined) ? 'llm' : 'local';
    const summary = rewritten.length > 0 ? summaryOf(rewritten, reader) : NO_SUMMARY;
    const withoutText = mentions.filter(({ id }) => !withText.has(id));
    return { summary, errors: withoutText.map(({ id }) => ({ mentionId: id, code: 'NO_TEXT' })) };
  }

  private async agent(command: RunAnalysis, mentions: readonly AnalysedMention[]): Promise<AnalysisResult> {
    const fields = JSON.parse(command.schemaJson) as AgentStepFields;
    const { values, codes } = await this.read(
      command.accountId,
      mentions.map(asModelInput),
      agentStepReading(command.instruction, fields),
    );
    const outputs = mentions.flatMap(({ id }, n) =>
      values[n] ? [{ mentionId: id, status: 'completed' as const, output: values[n] }] : [],
    );
    const errors = mentions.flatMap(({ id }, n) =>
      values[n] ? [] : [{ mentionId: id, code: codes[n] ?? 'FAILED' }],
    );
    return { outputs, errors };
  }

  /** Asks the model as `read` does. Returns no values and no codes if there is no model, or while the model is down. */
  private async readIfAvailable<T>(
    accountId: string,
    items: readonly LlmItem[],
    reading: LlmReading<T>,
  ): Promise<Answers<T>> {
    if (!this.llm?.lane.isAvailable) return { values: [], codes: [] };
    return this.read(accountId, items, reading);
  }

  /** Asks the model about each item. @returns a value or an error code for each item */
  private async read<T>(
    accountId: string,
    items: readonly LlmItem[],
    reading: LlmReading<T>,
  ): Promise<Answers<T>> {
    const { llm } = this;
    // This happens only if the settings of the gateway and of this service differ: otherwise the gateway refuses the
    // command.
    if (!llm) throw Refusal.unavailable('the analysis service has no language model: set LLM_URL');
    const endsAt = systemClock.now().getTime() + MODEL_TIMEOUT_MS;
    const parts: LlmItem[][] = [];
    for (let from = 0; from < items.length; from += ITEMS_IN_REQUEST)
      parts.push(items.slice(from, from + ITEMS_IN_REQUEST));
    const answers = await Promise.all(
      parts.map(async (part) => {
        const priority = -this.ofAccount.of(accountId);
        const end = this.ofAccount.begin(accountId);
        try {
          const answer = await this.requests.add(() => llm.ask(reading, part, endsAt), { priority });
          const values = answer?.values ?? [];
          return part.map((_, n) => ({ value: values[n], code: 'INVALID_ANSWER' }));
        } catch (error) {
          if (!(error instanceof LlmError)) throw error;
          const code = error.kind === 'deadline' || error.kind === 'timeout' ? 'TIMEOUT' : 'UNAVAILABLE';
          return part.map(() => ({ value: undefined, code }));
        } finally {
          end();
        }
      }),
    );
    const all = answers.flat();
    return {
      values: all.map(({ value }) => value),
      codes: all.map(({ value, code }) => (value === undefined ? code : undefined)),
    };
  }
}

/** Returns a mention in the input format of the model. */
function asModelInput(mention: AnalysedMention): LlmItem {
  return asLlmItem(mention, MODEL_CHARACTERS);
}
