import type { Criteria } from '#contracts';
import {
  SPEC_NOW,
  criteriaOf,
  fakeContext,
  fakeUpstream,
  type FakeAnswer,
  type FakeRequest,
} from '../../testing/fake-upstream.js';
import { UpstreamError, type FetchContext } from '../../source.js';
import type { Engine } from '../answer.js';
import { aiAnswersSettings, createAiAnswersConnector } from '../index.js';

// Only for specs: responses in the format of each engine, a server that imitates all engines, and reads of searches.

/** Settings with the keys of three of the four engines. */
export const settings = aiAnswersSettings({
  AI_OPENAI_TOKEN: 'key-1',
  AI_ANTHROPIC_TOKEN: 'key-2',
  AI_PERPLEXITY_TOKEN: 'key-3',
  AI_GEMINI_TOKEN: ' ',
  AI_PERPLEXITY_MODEL: 'sonar-pro',
});

/** The connector with these settings. */
export const connector = createAiAnswersConnector(settings);

/** Returns a search; `more` replaces or adds single filters. */
export function promptCriteria(more: Record<string, unknown> = {}, market?: string): Criteria {
  const filters = { prompt: 'Which lamp is the best?', brands: ['Acme', 'Byron'], ...more };
  return criteriaOf({ ...(market !== undefined && { market }), filters: filters as never });
}

/** Starts a read. Returns its promise, its requests, and the waits that the connector asked for. */
export function reading(
  answer: (request: FakeRequest) => FakeAnswer,
  criteria = promptCriteria(),
  more: Partial<FetchContext> = {},
) {
  const upstream = fakeUpstream('ai_answers', answer);
  return { read: connector.search(criteria, fakeContext(upstream.http, more)), ...upstream };
}

/**
 * Returns an upstream that refuses requests while their quota has to wait, for several consecutive reads, and `lane`,
 * whose time the spec sets.
 */
export function upstreamWithLane(answer: (request: FakeRequest) => FakeAnswer) {
  const lane = { now: SPEC_NOW };
  const until = new Map<string, number>();
  const upstream = fakeUpstream('ai_answers', answer, {
    budget: () => ({
      before: ({ spends }) => {
        const waitMs = (until.get(spends?.quota ?? '') ?? 0) - lane.now.getTime();
        const spent = new UpstreamError('quota_spent', 'the daily quota is used up', 0, waitMs);
        return waitMs > 0 ? Promise.reject(spent) : Promise.resolve();
      },
      after: () => undefined,
      holdOff: ({ waitMs, quota = 'all' }) => void until.set(quota, lane.now.getTime() + waitMs),
    }),
  });
  return { ...upstream, lane };
}

/** The parts of a generated answer. */
export interface GivenAnswer {
  text?: string;
  /** Cited pages: address and title. */
  cites?: readonly (readonly [url: string, title: string])[];
  queries?: readonly string[];
}

const HOSTS: Readonly<Record<string, Engine>> = {
  'api.openai.com': 'openai',
  'api.anthropic.com': 'anthropic',
  'api.perplexity.ai': 'perplexity',
  'generativelanguage.googleapis.com': 'gemini',
};

/** Returns the engine of a request. */
export function engineOf(request: FakeRequest): Engine {
  return HOSTS[request.at.host] ?? 'openai';
}

/** Returns the answer in the format of the requested engine. */
export function answered(engine: Engine, given: GivenAnswer = {}): { body: object } {
  switch (engine) {
    case 'openai':
      return { body: openaiAnswer(given) };
    case 'anthropic':
      return { body: anthropicAnswer(given) };
    case 'perplexity':
      return { body: perplexityAnswer(given) };
    case 'gemini':
      return { body: geminiAnswer(given) };
  }
}

/** Returns a function that answers a request in the format of its engine, or with the failure given for this engine. */
export function engines(answers: Partial<Record<Engine, GivenAnswer | { fails: FakeAnswer }>> = {}) {
  return (request: FakeRequest): FakeAnswer => {
    const given = answers[engineOf(request)] ?? {};
    return 'fails' in given ? given.fails : answered(engineOf(request), given);
  };
}

/** Returns an answer of OpenAI's Responses interface. */
export function openaiAnswer({ text = 'Acme makes lamps.', cites = [], queries = [] }: GivenAnswer): object {
  return {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    error: null,
    incomplete_details: null,
    model: 'gpt-5.2-2025-12-11',
    output: [
      { id: 'rs_1', type: 'reasoning', summary: [] },
      ...queries.map((query, n) => ({
        id: `ws_${n}`,
        type: 'web_search_call',
        status: 'completed',
        action: { type: 'search', query, sources: [{ type: 'url', url: 'https://looked.example/at' }] },
      })),
      {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [
          {
            type: 'output_text',
            text,
            logprobs: [],
            annotations: cites.map(([url, title]) => ({
              type: 'url_citation',
              start_index: 0,
              end_index: 4,
              url,
              title,
            })),
          },
        ],
      },
    ],
  };
}

/** Returns an answer of Anthropic's Messages interface. */
export function anthropicAnswer({
  text = 'Acme makes lamps.',
  cites = [],
  queries = [],
}: GivenAnswer): object {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-haiku-4-5-20251001',
    content: [
      ...queries.flatMap((query, n) => [
        { type: 'server_tool_use', id: `srv_${n}`, name: 'web_search', input: { query } },
        {
          type: 'web_search_tool_result',
          tool_use_id: `srv_${n}`,
          content: [
            {
              type: 'web_search_result',
              url: 'https://looked.example/at',
              title: 'Looked at',
              encrypted_content: 'E1',
              page_age: null,
            },
          ],
        },
      ]),
      {
        type: 'text',
        text,
        citations: cites.map(([url, title]) => ({
          type: 'web_search_result_location',
          url,
          title,
          cited_text: 'So it is.',
          encrypted_index: 'E2',
        })),
      },
    ],
    stop_reason: 'end_turn',
    stop_sequence: null,
  };
}

/** Returns an answer of Perplexity's chat interface. */
export function perplexityAnswer({ text = 'Acme makes lamps.', cites = [] }: GivenAnswer): object {
  return {
    id: 'p1',
    object: 'chat.completion',
    model: 'sonar',
    citations: cites.map(([url]) => url),
    search_results: cites.map(([url, title]) => ({ url, title, date: '2026-01-02', snippet: '…' })),
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
  };
}

/** Returns an answer of Gemini's generateContent. */
export function geminiAnswer({ text = 'Acme makes lamps.', cites = [], queries = [] }: GivenAnswer): object {
  return {
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts: [{ text: 'Let me think.', thought: true }, { text }] },
        finishReason: 'STOP',
        ...(cites.length + queries.length > 0 && {
          groundingMetadata: {
            searchEntryPoint: { renderedContent: '<div>lamps</div>' },
            groundingChunks: cites.map(([uri, title]) => ({ web: { uri, title } })),
            groundingSupports: [],
            webSearchQueries: queries,
          },
        }),
      },
    ],
    modelVersion: 'gemini-3.5-flash',
  };
}
