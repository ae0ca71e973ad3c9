import type { JsonRecord } from '../shared/shape.js';

/** The engines that can be asked, in the order in which their answers are told. */
export const ENGINES = ['openai', 'anthropic', 'perplexity', 'gemini'] as const;
export type Engine = (typeof ENGINES)[number];

/** A page that an answer names as where it has something from. */
export interface Citation {
  url: string;
  /** Empty where the engine gives none. Gemini gives the page's domain. */
  title: string;
}

/** What an engine answered. */
export interface Answer {
  /** As the engine names the model that answered. */
  model: string;
  text: string;
  /** Each once, in the order in which they are named. */
  citations: Citation[];
  /** What it searched the web for. */
  queries: string[];
  /** Pages that it looked at, named in the answer or not. */
  sources: Citation[];
  /** HTML that Google's terms want shown beside an answer of Gemini. */
  searchEntryPoint?: string | undefined;
  warnings: string[];
}

/** What an engine is asked. */
export interface Question {
  prompt: string;
  model: string;
  /** ISO 3166, in capitals: where the person who asks is taken to be. */
  country: string | undefined;
}

/** An answer, or what is to be sent back so that the engine goes on with it. */
export type Turn = { answer: Answer } | { goOn: readonly unknown[] };

/** One engine: where it is, how it is asked, and how its answers are read. */
export interface EngineApi {
  id: Engine;
  /** Where people use it: the address of an answer that cites nothing. */
  site: string;
  defaultModel: string;
  url(model: string): string;
  headers(token: string): Record<string, string>;
  /** @param said what the engine has answered so far, where it has paused */
  body(question: Question, said: readonly unknown[]): JsonRecord;
  /** Throws `UpstreamError` `unknown_shape`, `truncated` or `forbidden`. */
  read(body: unknown, said: readonly unknown[]): Turn;
}

/** The setting that holds an engine's key. */
export function tokenSetting(engine: Engine): string {
  return `AI_${engine.toUpperCase()}_TOKEN`;
}

/** The setting that names an engine's model. */
export function modelSetting(engine: Engine): string {
  return `AI_${engine.toUpperCase()}_MODEL`;
}
