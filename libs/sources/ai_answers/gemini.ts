import { listOf, recordOf, textOf, type JsonRecord } from '../shared/shape.js';
import type { EngineApi, Turn } from './answer.js';
import { incompleteAnswer, citationsOf, refusedPrompt, textIn, textsOf, unknownAnswer } from './reading.js';

// Finish reasons that are caused by the prompt or the content. With any other reason except STOP, the answer is
// incomplete, for example because it is too long.
const DECLINED = new Set([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'LANGUAGE',
  'OTHER',
]);

/** Gemini with its method generateContent and Google's web search. */
export const gemini: EngineApi = {
  id: 'gemini',
  site: 'https://gemini.google.com/',
  defaultModel: 'gemini-3.5-flash',
  url: (model) =>
    `https://generativelanguage.googleapis.com/v1beta/models/${encodeURIComponent(model)}:generateContent`,
  headers: (token) => ({ 'x-goog-api-key': token }),
  // The web search of the API has no parameter for the country of the person who asks.
  body: ({ prompt }) => ({
    contents: [{ role: 'user', parts: [{ text: prompt }] }],
    tools: [{ google_search: {} }],
  }),
  read,
};

function read(body: unknown): Turn {
  const answer = recordOf(body);
  const blocked = textOf(recordOf(answer?.['promptFeedback'])?.['blockReason']);
  if (blocked !== undefined) throw refusedPrompt('gemini', blocked);
  const candidate = recordOf(listOf(answer?.['candidates'])?.[0]);
  if (!answer || !candidate) throw unknownAnswer('gemini', 'an object with a list "candidates"');
  const reason = textOf(candidate['finishReason']) ?? '';
  if (DECLINED.has(reason)) throw refusedPrompt('gemini', reason);
  if (reason !== '' && reason !== 'STOP') throw incompleteAnswer('gemini', reason);
  const text = (listOf(recordOf(candidate['content'])?.['parts']) ?? [])
    .map((part) => recordOf(part) ?? {})
    .filter(({ thought }) => thought !== true)
    .map((part) => textIn(part['text']))
    .join('');
  if (text.trim() === '') throw unknownAnswer('gemini', 'parts with a text');
  // Absent if the model did not search.
  const grounding: JsonRecord = recordOf(candidate['groundingMetadata']) ?? {};
  const citations = citationsOf(
    (listOf(grounding['groundingChunks']) ?? []).map((chunk) => recordOf(chunk)?.['web']),
    'uri',
  );
  return {
    answer: {
      model: textOf(answer['modelVersion']) ?? '',
      text,
      citations,
      queries: textsOf(listOf(grounding['webSearchQueries']) ?? []),
      sources: citations,
      searchEntryPoint: textOf(recordOf(grounding['searchEntryPoint'])?.['renderedContent']),
      warnings: [],
    },
  };
}
