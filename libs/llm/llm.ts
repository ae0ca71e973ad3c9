import { createOutboundHttp, type OutboundHttp } from '#http-out';
import { systemClock, type Clock } from '#kernel';
import { metrics, type Logger } from '#telemetry';
import { ChatClient, type ChatMessage, type ChatOptions, type Completion } from './chat-client.js';
import { answerSchema, opening, readAnswers, repair } from './conversation.js';
import { LlmLane, type LaneBudget, type SharedTurns } from './lane.js';
import { LlmError } from './llm-error.js';
import type { LlmAnswers, LlmItem, LlmReading } from './reading.js';

/** The language model of this installation, and its budget. */
export interface LlmOptions extends Omit<ChatOptions, 'http'>, LaneBudget {
  /** Maximum duration of one request. */
  timeoutMs: number;
  userAgent: string;
}

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 20_000;
/** A timer can end this much earlier than the clock says. */
const TIMER_MS = 20;
/** A failing server is logged at most once in this time, for each kind of failure. */
const REPORT_EVERY_MS = 60_000;

/** Asks the operator's language model. All requests share one lane. */
export class Llm {
  readonly lane: LlmLane;
  private readonly client: ChatClient;
  private readonly reportedAt = new Map<string, number>();

  constructor(
    private readonly options: LlmOptions,
    private readonly http: OutboundHttp,
    private readonly log: Logger,
    private readonly clock: Clock = systemClock,
    turns?: SharedTurns,
  ) {
    this.lane = new LlmLane(options, clock, turns);
    this.client = new ChatClient({ ...options, http });
  }

  /** The configured model. */
  get model(): string {
    return this.options.model;
  }

  /**
   * Asks like `askOnce`, but tries again until `endsAt` after temporary failures, and if the lane has no turn. For
   * callers that wait for the answer.
   * @throws LlmError of the last attempt
   * @throws what `SharedTurns.begin` throws, immediately
   */
  async ask<T>(reading: LlmReading<T>, items: readonly LlmItem[], endsAt: number): Promise<LlmAnswers<T>> {
    for (let tries = 1; ; tries += 1) {
      try {
        const answers = await this.askOnce(reading, items, endsAt);
        if (answers.failure) throw answers.failure;
        return answers;
      } catch (error) {
        if (!(error instanceof LlmError && (error.isTemporary || error.kind === 'no_turn'))) throw error;
        const waitMs = retryWaitMs(error, tries);
        if (this.lane.isClosed || this.nowMs + waitMs >= endsAt) throw error;
        await this.lane.pause(waitMs);
      }
    }
  }

  /**
   * Asks a question about items, all in one request. If an item has no valid answer, and the model did not decline to
   * answer, shows the faults to the model once.
   * @param endsAt epoch ms: no request lasts longer
   * @returns a value for each item; undefined if the answer about the item stayed invalid, or if the model declined to
   *   answer. `failure` is set if the first request got an answer but the second request got none
   * @throws LlmError if a request gets no answer and no item has a valid answer
   * @throws what `SharedTurns.begin` throws
   */
  async askOnce<T>(
    reading: LlmReading<T>,
    items: readonly LlmItem[],
    endsAt: number,
  ): Promise<LlmAnswers<T>> {
    const schema = answerSchema(reading);
    const messages = opening(reading, items);
    const startedAt = this.nowMs;
    const first = await this.request(messages, schema, endsAt);
    const read = this.read(first, reading, items.length);
    let { values } = read;
    let last = first;
    let failure: LlmError | undefined;
    const open = values.flatMap((value, index) => (value === undefined ? [index + 1] : []));
    if (open.length > 0 && !first.isDeclined) {
      const faults = first.isCut ? ['it is cut off, because it is too long', ...read.faults] : read.faults;
      try {
        last = await this.request([...messages, ...repair(first.text, faults, open)], schema, endsAt);
        const again = this.read(last, reading, items.length, open);
        values = values.map((value, index) => value ?? again.values[index]);
      } catch (error) {
        if (!(error instanceof LlmError) || open.length === items.length) throw error;
        failure = error;
      }
    }
    return {
      values,
      ...(failure && { failure }),
      model: last.model,
      promptVersion: reading.prompt.version,
      durationMs: this.nowMs - startedAt,
    };
  }

  /** Closes the client: running requests fail. */
  async close(): Promise<void> {
    this.lane.close();
    await this.http.close();
  }

  /** Reads the values of an answer. @param asked numbers of the items that the answer is about; by default all */
  private read<T>(
    { text, isDeclined }: Completion,
    { check }: LlmReading<T>,
    count: number,
    asked?: number[],
  ) {
    const read = readAnswers(isDeclined ? '' : text, count, check);
    const isComplete = read.values.every(
      (value, index) => value !== undefined || asked?.includes(index + 1) === false,
    );
    metrics.llmRequests.add(1, { outcome: isDeclined ? 'declined' : isComplete ? 'answered' : 'invalid' });
    return read;
  }

  private request(
    messages: readonly ChatMessage[],
    schema: Record<string, unknown>,
    endsAt: number,
  ): Promise<Completion> {
    return this.lane.run(endsAt, async () => {
      const withinMs = Math.min(this.options.timeoutMs, endsAt - this.nowMs);
      try {
        const completion = await this.client.complete(messages, schema, withinMs);
        metrics.llmTokens.add(completion.tokensIn, { direction: 'in' });
        metrics.llmTokens.add(completion.tokensOut, { direction: 'out' });
        return completion;
      } catch (error) {
        // A connection that cannot be opened is given up before the deadline, and counts as a failure of the server.
        const ended =
          error instanceof LlmError &&
          error.kind === 'timeout' &&
          withinMs < this.options.timeoutMs &&
          this.nowMs >= endsAt - TIMER_MS;
        const known = ended ? new LlmError('deadline', error.message) : error;
        if (known instanceof LlmError) this.report(known);
        throw known;
      }
    });
  }

  private report({ kind, message }: LlmError): void {
    metrics.llmRequests.add(1, { outcome: kind });
    if (this.nowMs - (this.reportedAt.get(kind) ?? -Infinity) < REPORT_EVERY_MS) return;
    this.reportedAt.set(kind, this.nowMs);
    this.log.warn({ kind }, `no answer of the language model: ${message}`);
  }

  private get nowMs(): number {
    return this.clock.now().getTime();
  }
}

/** Returns the wait before the next attempt, in ms. @param tries from 1 */
export function retryWaitMs({ retryAfterMs }: LlmError, tries: number): number {
  return retryAfterMs ?? Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(tries - 1, 10));
}

/**
 * Creates the client of the language model. Call `close` at the stop.
 * @param turns the turns that the client shares with other processes; without them, this process has the whole budget
 */
export function createLlm(options: LlmOptions, log: Logger, turns?: SharedTurns): Llm {
  const { userAgent, concurrency } = options;
  return new Llm(
    options,
    createOutboundHttp({ allow: [], userAgent, connectionsPerOrigin: concurrency }),
    log,
    systemClock,
    turns,
  );
}
