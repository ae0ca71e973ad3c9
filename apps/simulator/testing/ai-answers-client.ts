import type { Answer, SimulatorClient } from './simulator-client.js';

// For specs only: requests to each engine of ai_answers.

/** The prompt of the requests. */
export const PROMPT = 'Which Kettle is the best?';

/** A request to an engine. */
export interface EngineRequest {
  path: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

/** A valid request to each engine. */
export const ASKED: Readonly<Record<string, EngineRequest>> = {
  openai: {
    path: '/v1/responses',
    headers: { authorization: 'Bearer k' },
    body: { model: 'gpt-5.2', input: PROMPT, tools: [{ type: 'web_search' }] },
  },
  anthropic: {
    path: '/v1/messages',
    headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' },
    body: {
      model: 'claude-haiku-4-5',
      max_tokens: 100,
      messages: [{ role: 'user', content: PROMPT }],
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    },
  },
  perplexity: {
    path: '/chat/completions',
    headers: { authorization: 'Bearer k' },
    body: { model: 'sonar', messages: [{ role: 'user', content: PROMPT }] },
  },
  gemini: {
    path: '/v1beta/models/gemini-3.5-flash:generateContent',
    headers: { 'x-goog-api-key': 'k' },
    body: { contents: [{ role: 'user', parts: [{ text: PROMPT }] }], tools: [{ google_search: {} }] },
  },
};

/** Sends the request of `ASKED` to the engine; `more` replaces its path, headers or body. */
export function askEngine(
  client: SimulatorClient,
  engine: string,
  more: Partial<EngineRequest> = {},
): Promise<Answer> {
  const { path, headers, body } = { ...ASKED[engine]!, ...more };
  return client.post(path, body, headers);
}

/** Returns the headers of a request to the engine; they contain this API key. */
export function keyedBy(engine: string, key: string): Record<string, string> {
  const { headers } = ASKED[engine]!;
  const name = Object.keys(headers).find((each) => each !== 'anthropic-version')!;
  return { ...headers, [name]: name === 'authorization' ? `Bearer ${key}` : key };
}
