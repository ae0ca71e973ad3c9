import { listOf, recordOf, textOf } from '../shared/shape.js';
import type { EngineApi, Turn } from './answer.js';
import { incompleteAnswer, citationsOf, refusedPrompt, textIn, textsOf, unknownAnswer } from './reading.js';

// Maximum number of searches for one request, because each search is billed. Answers of normal length need one to three
// searches.
const MAX_SEARCHES = 5;
const MAX_TOKENS = 4_096;

/** Anthropic with its Messages API and its web search. */
export const anthropic: EngineApi = {
  id: 'anthropic',
  site: 'https://claude.ai/',
  defaultModel: 'claude-haiku-4-5',
  url: () => 'https://api.anthropic.com/v1/messages',
  headers: (token) => ({ 'x-api-key': token, 'anthropic-version': '2023-06-01' }),
  body: ({ prompt, model, country }, earlier) => ({
    model,
    max_tokens: MAX_TOKENS,
    messages: [
      { role: 'user', content: prompt },
      // To continue after `pause_turn`, the engine needs the content that it has sent, unchanged.
      ...(earlier.length > 0 ? [{ role: 'assistant', content: earlier }] : []),
    ],
    tools: [
      {
        type: 'web_search_20250305',
        name: 'web_search',
        max_uses: MAX_SEARCHES,
        ...(country !== undefined && { user_location: { type: 'approximate', country } }),
      },
    ],
  }),
  read,
};

function read(body: unknown, earlier: readonly unknown[]): Turn {
  const message = recordOf(body);
  const content = listOf(message?.['content']);
  if (message?.['type'] !== 'message' || !content) {
    throw unknownAnswer('anthropic', 'a message with a list "content"');
  }
  const whole = [...earlier, ...content];
  const reason = textOf(message['stop_reason']) ?? '';
  switch (reason) {
    case 'end_turn':
    case 'stop_sequence':
      break;
    case 'pause_turn':
      return { continueWith: whole };
    case 'refusal':
      throw refusedPrompt('anthropic', reason);
    default:
      throw incompleteAnswer('anthropic', reason);
  }
  const blocks = whole.map((block) => recordOf(block) ?? {});
  const texts = blocks.filter(({ type }) => type === 'text');
  // Blocks are pieces of one text, split where a citation begins or ends.
  const text = texts.map((block) => textIn(block['text'])).join('');
  if (text.trim() === '') throw unknownAnswer('anthropic', 'blocks with a text');
  const results = blocks.filter(({ type }) => type === 'web_search_tool_result');
  return {
    answer: {
      model: textOf(message['model']) ?? '',
      text,
      citations: citationsOf(texts.flatMap(({ citations }) => listOf(citations) ?? [])),
      queries: textsOf(
        blocks
          .filter(({ type }) => type === 'server_tool_use')
          .map(({ input }) => recordOf(input)?.['query']),
      ),
      sources: citationsOf(results.flatMap(({ content: pages }) => listOf(pages) ?? [])),
      warnings: textsOf(results.map(({ content: result }) => failureOf(result))),
    },
  };
}

// If a search has failed, the status of the response is still 200, and `content` is an object instead of a list.
function failureOf(result: unknown): string | undefined {
  const code = textOf(recordOf(result)?.['error_code']);
  if (code === undefined) return undefined;
  const reason = /^[a-z_]{1,40}$/.test(code) ? ` (${code})` : '';
  return `ai_answers: a web search of anthropic failed${reason}; anthropic answered without its results`;
}
