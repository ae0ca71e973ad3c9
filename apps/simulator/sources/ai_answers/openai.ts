import type { FastifyReply, FastifyRequest } from 'fastify';
import { RequestWindow } from '../../context.js';
import type { SimContext } from '../../context.js';
import { charactersFrom } from '../../world/random.js';
import {
  bearerOf,
  bodyOf,
  UNCITED_PAGE,
  placeOf,
  plainJson,
  queryOfPrompt,
  answerOf,
  textOfContent,
  tokensOf,
} from './engine.js';
import type { SimulatedEngine, Page, EngineAnswer } from './engine.js';

const REQUESTS_A_MINUTE = 5_000;
const KEYS_AT = 'https://platform.openai.com/account/api-keys';

/** The parts of a request that change the answer. */
interface ParsedRequest {
  model: string;
  prompt: string;
  /** The search tool of the request, and whether the request asks for all sources; undefined without the tool. */
  search: { tool: Record<string, unknown>; withSources: boolean } | undefined;
}

/** OpenAI's Responses interface with web search. */
export const openaiEngine: SimulatedEngine = { path: '/v1/responses', open, refuse };

function open(context: SimContext): ReturnType<SimulatedEngine['open']> {
  const { clock } = context;
  const window = new RequestWindow(clock, REQUESTS_A_MINUTE, 60);
  return (request, reply) => {
    const key = bearerOf(request);
    if (key === '' || key === 'wrong') return refuse(reply, 401);
    const within = window.take();
    const now = clock.now().getTime();
    void reply.header('x-ratelimit-limit-requests', window.limit);
    void reply.header('x-ratelimit-remaining-requests', window.remaining);
    void reply.header('x-ratelimit-reset-requests', durationOf(window.resetsAt - now));
    if (!within) return refuse(reply, 429);
    const asked = parseRequest(request);
    if ('refused' in asked) return send(reply, asked.status, { error: asked.refused });
    void reply.header('openai-processing-ms', 900 + tokensOf(asked.prompt));
    return send(reply, 200, responseOf(answerOf('openai', context), asked, Math.floor(now / 1000)));
  };
}

function parseRequest(request: FastifyRequest): ParsedRequest | { status: number; refused: object } {
  const { model, input, tools, include } = bodyOf(request);
  const missing = (param: string) => ({
    status: 400,
    refused: {
      message: `Missing required parameter: '${param}'.`,
      type: 'invalid_request_error',
      param,
      code: 'missing_required_parameter',
    },
  });
  if (typeof model !== 'string' || model === '') return missing('model');
  if (!/^(gpt|o\d|chatgpt)/.test(model)) return { status: 404, refused: noModel(model) };
  const messages = Array.isArray(input) ? (input as { content?: unknown }[]) : [];
  const prompt = typeof input === 'string' ? input : textOfContent(messages.at(-1)?.content);
  if (prompt === '') return missing('input');
  const tool = (Array.isArray(tools) ? (tools as Record<string, unknown>[]) : []).find(({ type }) =>
    String(type).startsWith('web_search'),
  );
  const withSources = Array.isArray(include) && include.includes('web_search_call.action.sources');
  return { model, prompt, search: tool && { tool, withSources } };
}

function responseOf(
  engineAnswer: EngineAnswer,
  { model, prompt, search }: ParsedRequest,
  now: number,
): object {
  const id = (prefix: string) =>
    `${prefix}_${charactersFrom(`${prefix} ${engineAnswer.seed}`, '0123456789abcdef', 50)}`;
  const query = queryOfPrompt(prompt);
  const sources = [...engineAnswer.pages, UNCITED_PAGE].map(({ url }) => ({ type: 'url', url }));
  const call = search && {
    id: id('ws'),
    type: 'web_search_call',
    status: 'completed',
    action: { type: 'search', queries: [query], query, ...(search.withSources && { sources }) },
  };
  const content = {
    type: 'output_text',
    // An answer without a search cites nothing.
    annotations: search ? engineAnswer.pages.map((page) => citationOf(page, engineAnswer.text)) : [],
    logprobs: [],
    text: engineAnswer.text,
  };
  const message = {
    id: id('msg'),
    type: 'message',
    status: 'completed',
    content: [content],
    role: 'assistant',
  };
  return {
    id: id('resp'),
    object: 'response',
    created_at: now,
    status: 'completed',
    background: false,
    billing: { payer: 'developer' },
    completed_at: now,
    error: null,
    frequency_penalty: 0,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    model: /\d{4}-\d{2}-\d{2}$/.test(model) ? model : `${model}-2025-12-11`,
    moderation: null,
    output: [...(call ? [call] : []), message],
    parallel_tool_calls: true,
    presence_penalty: 0,
    previous_response_id: null,
    prompt_cache_key: null,
    prompt_cache_retention: '24h',
    reasoning: { context: 'current_turn', effort: 'none', mode: 'standard', summary: null },
    safety_identifier: null,
    service_tier: 'default',
    store: false,
    temperature: 1,
    text: { format: { type: 'text' }, verbosity: 'medium' },
    tool_choice: 'auto',
    tool_usage: { web_search: { num_requests: search ? 1 : 0 } },
    tools: search ? [toolOf(search.tool)] : [],
    top_logprobs: 0,
    top_p: 0.98,
    truncation: 'disabled',
    usage: usageOf(prompt, engineAnswer.text),
    user: null,
    metadata: {},
  };
}

/**
 * Returns the citation of a page. Its address contains the mark `utm_source=openai`. A page whose address is not in the
 * text is cited for the whole text.
 */
function citationOf(page: Page, text: string): object {
  const { start, end } = placeOf(page, text) ?? { start: 0, end: text.length };
  // The offsets count Unicode code points, not UTF-16 code units.
  const characters = (upTo: number) => [...text.slice(0, upTo)].length;
  const [, address = '', fragment = ''] = /^([^#]*)(.*)$/s.exec(page.url) ?? [];
  return {
    type: 'url_citation',
    end_index: characters(end),
    start_index: characters(start),
    title: page.title,
    url: `${address}${address.includes('?') ? '&' : '?'}utm_source=openai${fragment}`,
  };
}

function toolOf({ type, user_location: place }: Record<string, unknown>): object {
  const nowhere = { type: 'approximate', city: null, country: 'US', region: null, timezone: null };
  return {
    type,
    return_token_budget: 'default',
    search_content_types: ['text'],
    search_context_size: 'medium',
    user_location: { ...nowhere, ...(place as object | undefined) },
  };
}

function usageOf(prompt: string, text: string): object {
  const [input, output] = [8_000 + tokensOf(prompt), tokensOf(text)];
  return {
    input_tokens: input,
    input_tokens_details: { cache_write_tokens: 0, cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}

/** Returns a duration in OpenAI's form: `48s`, `6m0s`, `120ms`. */
function durationOf(ms: number): string {
  if (ms < 1000) return `${ms}ms`;
  const seconds = Math.ceil(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

function refuse(reply: FastifyReply, status: number, message = ''): FastifyReply {
  if (status === 401) void reply.header('www-authenticate', 'Bearer realm="OpenAI API"');
  return send(reply, status, { error: refusalOf(status, message, bearerOf(reply.request)) });
}

function send(reply: FastifyReply, status: number, body: object): FastifyReply {
  return plainJson(reply, status, body).header('openai-version', '2020-10-01');
}

function refusalOf(status: number, message: string, key: string): object {
  const invalid = { type: 'invalid_request_error', param: null, code: null };
  switch (status) {
    case 401: {
      if (key === '') return { ...invalid, message: `You didn't provide an API key. Get one at ${KEYS_AT}.` };
      const shown = `Incorrect API key provided: ${key}. You can find your API key at ${KEYS_AT}.`;
      return { ...invalid, message: shown, code: 'invalid_api_key' };
    }
    case 403:
      return {
        message: 'Country, region, or territory not supported',
        type: 'request_forbidden',
        param: null,
        code: 'unsupported_country_region_territory',
      };
    case 404:
      return noModel('gpt-5.2');
    case 429:
      return {
        message: `Rate limit reached on requests per min (RPM): Limit ${REQUESTS_A_MINUTE}, Used ${REQUESTS_A_MINUTE}, Requested 1.`,
        type: 'requests',
        param: null,
        code: 'rate_limit_exceeded',
      };
    case 500:
    case 503: {
      const overloaded = 'The engine is currently overloaded, please try again later';
      const failed = 'The server had an error while processing your request. Sorry about that!';
      const shown = status === 503 ? overloaded : failed;
      return { message: shown, type: 'server_error', param: null, code: null };
    }
    default:
      return { ...invalid, message };
  }
}

function noModel(model: string): object {
  return {
    message: `The model \`${model}\` does not exist or you do not have access to it.`,
    type: 'invalid_request_error',
    param: null,
    code: 'model_not_found',
  };
}
