import { listOf, recordOf, textOf } from '../shared/shape.js';
import type { Citation, EngineApi, Turn } from './answer.js';
import { incompleteAnswer, citationsOf, unknownAnswer } from './reading.js';

/** Perplexity with its chat API, which always searches the web. */
export const perplexity: EngineApi = {
  id: 'perplexity',
  site: 'https://www.perplexity.ai/',
  defaultModel: 'sonar',
  url: () => 'https://api.perplexity.ai/chat/completions',
  headers: (token) => ({ authorization: `Bearer ${token}` }),
  body: ({ prompt, model, country }) => ({
    model,
    messages: [{ role: 'user', content: prompt }],
    ...(country !== undefined && { web_search_options: { user_location: { country } } }),
  }),
  read,
};

function read(body: unknown): Turn {
  const answer = recordOf(body);
  const choice = recordOf(listOf(answer?.['choices'])?.[0]);
  const text = textOf(recordOf(choice?.['message'])?.['content']);
  const urls = listOf(answer?.['citations']);
  const results = listOf(answer?.['search_results']);
  if (!answer || text === undefined || (!urls && !results)) {
    throw unknownAnswer('perplexity', 'a choice with a text, and "citations" or "search_results"');
  }
  const reason = textOf(choice?.['finish_reason']) ?? 'stop';
  if (reason !== 'stop') throw incompleteAnswer('perplexity', reason);
  const sources = citationsOf(results ?? []);
  return {
    answer: {
      model: textOf(answer['model']) ?? '',
      text,
      citations: citedIn(text, urls ?? sources.map(({ url }) => url), sources),
      queries: [],
      sources: citationsOf([...sources, ...(urls ?? []).map((url) => ({ url }))]),
      warnings: [],
    },
  };
}

/**
 * Returns the addresses that the text cites. A mark such as [3] in the text is a position in the list of addresses; the
 * first position is 1. Addresses without a mark are not cited. If no mark names an address of the list, all addresses
 * are citations.
 */
function citedIn(text: string, urls: readonly unknown[], results: readonly Citation[]): Citation[] {
  const titles = new Map(results.map(({ url, title }) => [url, title]));
  const marked = [...text.matchAll(/\[(\d{1,3})\]/g)].map(([, n]) => urls[Number(n) - 1]);
  const cited = marked.some((url) => url !== undefined) ? marked : urls;
  return citationsOf(
    cited.map((value) => {
      const url = textOf(value)?.trim();
      return { url, title: url === undefined ? '' : (titles.get(url) ?? '') };
    }),
  );
}
