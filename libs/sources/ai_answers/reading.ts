import { cleanText, recordOf, textOf, unknownShape } from '../shared/shape.js';
import { UpstreamError } from '../source.js';
import type { Citation, Engine } from './answer.js';

/** Returns the fault of a response with an unknown structure. */
export function unknownAnswer(engine: Engine, expected: string): UpstreamError {
  return unknownShape('ai_answers', `${expected} (${engine})`);
}

/**
 * Returns the fault of an incomplete answer. Earshot does not compare it with the previous answer, because the missing
 * part can mention brands.
 */
export function incompleteAnswer(engine: Engine, reason: string): UpstreamError {
  const text = `ai_answers: ${engine} stopped before the end of its answer (${named(reason)}); the answer is not counted`;
  return new UpstreamError('truncated', text, 200);
}

/** Returns the fault of a prompt that the engine refuses to answer. */
export function refusedPrompt(engine: Engine, reason: string): UpstreamError {
  const text = `ai_answers: ${engine} refused to answer this prompt (${named(reason)}); change the prompt`;
  return new UpstreamError('forbidden', text, 200);
}

/** Returns citations from objects with an address and a title. Each address occurs once. */
export function citationsOf(found: Iterable<unknown>, urlKey = 'url'): Citation[] {
  const citations = new Map<string, Citation>();
  for (const one of found) {
    const record = recordOf(one);
    const given = textOf(record?.[urlKey])?.trim();
    if (given === undefined || !/^https?:\/\//i.test(given)) continue;
    const url = withoutTag(given);
    const title = textOf(record?.['title'])?.trim() ?? '';
    const known = citations.get(url);
    if (!known || known.title === '') citations.set(url, { url, title });
  }
  return [...citations.values()];
}

/** Returns the distinct texts that are not blank. */
export function textsOf(values: readonly unknown[]): string[] {
  return [...new Set(values.map((value) => textOf(value)?.trim()).filter((text) => text !== undefined))];
}

// OpenAI adds a tracking parameter to addresses; the page is the same without it.
function withoutTag(url: string): string {
  return url.replace(/([?&])utm_source=openai&/, '$1').replace(/[?&]utm_source=openai(?=#|$)/, '');
}

// Reasons of engines are words such as max_output_tokens. Other values are not shown to people.
function named(reason: string): string {
  return /^[\w.-]{1,40}$/.test(reason) ? reason : 'it does not say why';
}

/**
 * Returns a part of an answer's text; empty for a value that is not a text. Unlike `textOf`, keeps a part of spaces,
 * because the spaces between two citations belong to the answer.
 */
export function textIn(value: unknown): string {
  return typeof value === 'string' ? cleanText(value) : '';
}
