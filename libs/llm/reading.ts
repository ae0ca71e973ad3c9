import type { LlmError } from './llm-error.js';

/** A question that the model answers for each item separately. */
export interface LlmReading<T> {
  /** Name and version of the prompt. The version changes with every change of the texts or of the schema. */
  prompt: { name: string; version: string };
  /** What to read and how. Our own text, and texts of the account's keyword or request; never text of an item. */
  instructions: string;
  /** JSON schema of the answer about one item: a flat object. Limits of texts and numbers are sent as words. */
  schema: Record<string, unknown>;
  /** Checks the answer about one item against the schema, and against rules that a schema cannot express. */
  check(answer: unknown): Checked<T>;
}

/** A checked answer, or what is wrong with it, as a sentence for the model. */
export type Checked<T> = { value: T } | { fault: string };

/** What the model sees of an item: short keys with texts. */
export type LlmItem = Readonly<Record<string, string>>;

/** The answers to one question about items. */
export interface LlmAnswers<T> {
  /** Undefined for an item without a valid answer. */
  values: readonly (T | undefined)[];
  /** Why the model could not be asked again about the items without a valid answer. */
  failure?: LlmError;
  /** The name of the model, as the server returns it. */
  model: string;
  promptVersion: string;
  /** From the start of the first request to the end of the last request. */
  durationMs: number;
}
