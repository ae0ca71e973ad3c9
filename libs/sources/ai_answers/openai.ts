import { listOf, recordOf, textOf, type JsonRecord } from '../shared/shape.js';
import type { EngineApi, Turn } from './answer.js';
import { incompleteAnswer, citationsOf, refusedPrompt, textIn, textsOf, unknownAnswer } from './reading.js';

/** OpenAI with its Responses API and web search. */
export const openai: EngineApi = {
  id: 'openai',
  site: 'https://chatgpt.com/',
  // This model answers within 10 s after one or two searches. gpt-5 takes up to 70 s.
  defaultModel: 'gpt-5.2',
  url: () => 'https://api.openai.com/v1/responses',
  headers: (token) => ({ authorization: `Bearer ${token}` }),
  body: ({ prompt, model, country }) => ({
    model,
    input: prompt,
    tools: [
      {
        type: 'web_search',
        ...(country !== undefined && { user_location: { type: 'approximate', country } }),
      },
    ],
    include: ['web_search_call.action.sources'],
    store: false,
  }),
  read,
};

function read(body: unknown): Turn {
  const answer = recordOf(body);
  const output = listOf(answer?.['output'])?.map((part) => recordOf(part) ?? {});
  if (!answer || !output) throw unknownAnswer('openai', 'an object with a list "output"');
  refuseUnfinished(answer);
  const contents = output
    // Newer models also describe their next steps. These comments are not part of the answer.
    .filter(({ type, phase }) => type === 'message' && phase !== 'commentary')
    .flatMap(({ content }) => listOf(content) ?? [])
    .map((content) => recordOf(content) ?? {});
  const text = contents.map(({ text: value, refusal }) => textIn(value) || textIn(refusal)).join('');
  if (text.trim() === '') throw unknownAnswer('openai', 'a message with a text');
  const searches = output
    .filter(({ type }) => type === 'web_search_call')
    .map(({ action }) => recordOf(action) ?? {});
  return {
    answer: {
      model: textOf(answer['model']) ?? '',
      text,
      citations: citationsOf(
        contents
          .flatMap(({ annotations }) => listOf(annotations) ?? [])
          .filter((annotation) => recordOf(annotation)?.['type'] === 'url_citation'),
      ),
      queries: textsOf(searches.flatMap(({ query, queries }) => [query, ...(listOf(queries) ?? [])])),
      sources: citationsOf(searches.flatMap((action) => [...(listOf(action['sources']) ?? []), action])),
      warnings: [],
    },
  };
}

function refuseUnfinished(answer: JsonRecord): void {
  const status = answer['status'];
  if (status === undefined || status === 'completed') return;
  const reason =
    textOf(recordOf(answer['incomplete_details'])?.['reason']) ??
    textOf(recordOf(answer['error'])?.['code']) ??
    textOf(status) ??
    '';
  throw reason === 'content_filter' ? refusedPrompt('openai', reason) : incompleteAnswer('openai', reason);
}
