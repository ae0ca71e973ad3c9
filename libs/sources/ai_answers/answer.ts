import type { JsonRecord } from '../shared/shape.js';

/** The supported engines, in the order in which their answers are reported. */
export const ENGINES = ['openai', 'anthropic', 'perplexity', 'gemini'] as const;
/** A supported engine. */
export type Engine = (typeof ENGINES)[number];

/** A page that an answer cites. */
export interface Citation {
  url: string;
  /** Empty if the engine sends no title. Gemini sends the page's domain. */
  title: string;
}

/** The answer of an engine. */
export interface Answer {
  /** The model that answered, as the engine names it. */
  model: string;
  text: string;
  /** Each page once, in the order of the answer. */
  citations: Citation[];
  /** The engine's web searches. */
  queries: string[];
  /** All pages that the engine read, cited or not. */
  sources: Citation[];
  /** HTML that must be shown beside an answer of Gemini (Google's terms). */
  searchEntryPoint?: string | undefined;
  warnings: string[];
}

/** A question to an engine. */
export interface Question {
  prompt: string;
  model: string;
  /** ISO 3166, in capitals: the assumed country of the person who asks. */
  country: string | undefined;
}

/** An answer, or the content to send back so that a paused engine continues. */
export type Turn = { answer: Answer } | { continueWith: readonly unknown[] };

/** One engine: its address, its requests, and its answers. */
export interface EngineApi {
  id: Engine;
  /** The engine's website. It is the address of an answer without citations. */
  site: string;
  defaultModel: string;
  url(model: string): string;
  headers(token: string): Record<string, string>;
  /** @param earlier the content that the engine sent before it paused */
  body(question: Question, earlier: readonly unknown[]): JsonRecord;
  /** @throws UpstreamError `unknown_shape`, `truncated` or `forbidden` */
  read(body: unknown, earlier: readonly unknown[]): Turn;
}

/** Returns the name of the setting that contains an engine's key. */
export function tokenSetting(engine: Engine): string {
  return `AI_${engine.toUpperCase()}_TOKEN`;
}

/** Returns the name of the setting that contains an engine's model. */
export function modelSetting(engine: Engine): string {
  return `AI_${engine.toUpperCase()}_MODEL`;
}
