import type { FastifyReply, FastifyRequest } from 'fastify';
import { RequestWindow } from '../../context.js';
import type { SimContext } from '../../context.js';
import { charactersFrom } from '../../world/random.js';
import {
  bodyOf,
  UNCITED_PAGE,
  opaque,
  plainJson,
  queryOfPrompt,
  answerOf,
  textOfContent,
  tokensOf,
} from './engine.js';
import type { SimulatedEngine, EngineAnswer } from './engine.js';

const REQUESTS_A_MINUTE = 4_000;
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const TYPES: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  500: 'api_error',
  503: 'overloaded_error',
};
const MESSAGES: Record<number, string> = {
  401: 'invalid x-api-key',
  403: 'Your API key does not have permission to use the specified resource.',
  429: "This request would exceed your account's rate limit. Please try again later.",
  500: 'Internal server error',
  503: 'Overloaded',
};

/** The parts of a request. */
interface ParsedRequest {
  model: string;
  prompt: string;
  searches: boolean;
  /** True if the request ends with the part of the answer that the engine sent before its pause. */
  isContinuation: boolean;
}

/**
 * Anthropic's Messages interface with its web search. The answer from a post whose number is divisible by 8 pauses
 * after the search.
 */
export const anthropicEngine: SimulatedEngine = { path: '/v1/messages', open, refuse };

function open(context: SimContext): ReturnType<SimulatedEngine['open']> {
  const window = new RequestWindow(context.clock, REQUESTS_A_MINUTE, 60);
  return (request, reply) => {
    const key = request.headers['x-api-key'] ?? '';
    if (key === '') return fault(reply, 401, 'x-api-key header is required');
    if (key === 'wrong') return refuse(reply, 401);
    if (request.headers['anthropic-version'] === undefined)
      return fault(reply, 400, 'anthropic-version: header is required');
    const within = window.take();
    const prefix = 'anthropic-ratelimit-requests';
    void reply.header(`${prefix}-limit`, window.limit);
    void reply.header(`${prefix}-remaining`, window.remaining);
    void reply.header(`${prefix}-reset`, new Date(window.resetsAt).toISOString().replace(/\.\d+/, ''));
    if (!within) return refuse(reply, 429);
    const asked = parseRequest(request);
    if ('refused' in asked) return fault(reply, asked.status, asked.refused);
    return plainJson(reply, 200, messageOf(answerOf('anthropic', context), asked));
  };
}

function parseRequest(request: FastifyRequest): ParsedRequest | { status: number; refused: string } {
  const { model, max_tokens: maxTokens, messages, tools } = bodyOf(request);
  const required = (field: string) => ({ status: 400, refused: `${field}: Field required` });
  if (typeof model !== 'string' || model === '') return required('model');
  if (!model.startsWith('claude-')) return { status: 404, refused: `model: ${model}` };
  if (!Number.isInteger(maxTokens)) return required('max_tokens');
  const turns = Array.isArray(messages) ? (messages as { role?: unknown; content?: unknown }[]) : [];
  if (turns.length === 0) return required('messages');
  const kinds = (Array.isArray(tools) ? (tools as { type?: unknown }[]) : []).map(({ type }) => String(type));
  return {
    model: /-\d{8}$/.test(model) ? model : `${model}-20251001`,
    prompt: textOfContent(turns.find(({ role }) => role === 'user')?.content),
    searches: kinds.some((type) => type.startsWith('web_search_')),
    isContinuation: turns.at(-1)?.role === 'assistant',
  };
}

function messageOf(
  engineAnswer: EngineAnswer,
  { model, prompt, searches, isContinuation }: ParsedRequest,
): object {
  const pauses = searches && engineAnswer.pauses && !isContinuation;
  const content = [
    ...(searches && !isContinuation ? searchOf(engineAnswer, prompt) : []),
    ...(pauses ? [] : textsOf(engineAnswer, searches)),
  ];
  return {
    model,
    id: `msg_01${charactersFrom(`${engineAnswer.seed} ${isContinuation}`, BASE58, 22)}`,
    type: 'message',
    role: 'assistant',
    content,
    stop_reason: pauses ? 'pause_turn' : 'end_turn',
    stop_sequence: null,
    stop_details: null,
    usage: {
      input_tokens: 2_000 + tokensOf(prompt),
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: pauses ? 0 : tokensOf(engineAnswer.text),
      service_tier: 'standard',
      inference_geo: 'not_available',
      server_tool_use: { web_search_requests: searches && !isContinuation ? 1 : 0, web_fetch_requests: 0 },
    },
  };
}

function searchOf(engineAnswer: EngineAnswer, prompt: string): object[] {
  const id = `srvtoolu_01${charactersFrom(engineAnswer.seed, BASE58, 22)}`;
  const results = [...engineAnswer.pages, UNCITED_PAGE].map(({ url, title }) => ({
    type: 'web_search_result',
    title,
    url,
    encrypted_content: opaque(url, 120),
    page_age: null,
  }));
  return [
    { type: 'server_tool_use', id, name: 'web_search', input: { query: queryOfPrompt(prompt) } },
    { type: 'web_search_tool_result', tool_use_id: id, content: results, caller: { type: 'direct' } },
  ];
}

/** Returns the blocks of the text: its first sentence, then the rest with the citations. */
function textsOf({ text, pages }: EngineAnswer, searched: boolean): object[] {
  if (!searched || pages.length === 0) return [{ type: 'text', text }];
  const citations = pages.map(({ url, title }) => ({
    type: 'web_search_result_location',
    cited_text: `As read on ${title}.`,
    url,
    title,
    encrypted_index: opaque(`index ${url}`, 80),
  }));
  const [, before = '', cited = text] = /^(.*?[.!?]\s+)(.+)$/s.exec(text) ?? [];
  return [...(before ? [{ type: 'text', text: before }] : []), { citations, type: 'text', text: cited }];
}

function refuse(reply: FastifyReply, status: number): FastifyReply {
  // Faults of tests use 503, although Anthropic has another status for an overload.
  return fault(
    reply,
    status,
    status === 404 ? 'model: claude-haiku-4-5' : (MESSAGES[status] ?? 'Bad Request'),
  );
}

function fault(reply: FastifyReply, status: number, message: string): FastifyReply {
  const type = TYPES[status] ?? 'invalid_request_error';
  const requestId = `req_011C${charactersFrom(reply.request.id, BASE58, 20)}`;
  void reply.header('request-id', requestId);
  void reply.header('x-should-retry', String(status === 429 || status >= 500));
  return plainJson(reply, status, { type: 'error', error: { type, message }, request_id: requestId });
}
