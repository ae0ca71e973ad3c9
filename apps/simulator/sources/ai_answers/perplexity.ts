import type { FastifyReply } from 'fastify';
import type { SimContext } from '../../context.js';
import { charactersFrom } from '../../world/random.js';
import { bearerOf, bodyOf, plainJson, answerOf, textOfContent, tokensOf } from './engine.js';
import type { SimulatedEngine, Page, EngineAnswer } from './engine.js';

const TYPES: Record<number, string> = {
  401: 'invalid_api_key',
  403: 'forbidden',
  404: 'not_found',
  429: 'request_rate_limit_exceeded',
  500: 'internal_server_error',
  503: 'service_unavailable',
};
const MESSAGES: Record<number, string> = {
  401: 'Invalid API key provided. Ensure your API key is correct and active.',
  429: 'Request rate limit exceeded, please try again later.',
};
const REQUEST_COST = 0.005;
const TOKEN_COST = 0.000_001;

/** Perplexity's chat interface, which always searches. Responses do not report the limits of requests. */
export const perplexityEngine: SimulatedEngine = { path: '/chat/completions', open, refuse };

function open(context: SimContext): ReturnType<SimulatedEngine['open']> {
  return (request, reply) => {
    const key = bearerOf(request);
    if (key === '' || key === 'wrong') return refuse(reply, 401);
    const { model, messages } = bodyOf(request);
    if (typeof model !== 'string' || !model.startsWith('sonar')) {
      const message =
        typeof model === 'string' ? `Invalid model '${model}'.` : 'At body -> model: Field required';
      return fault(reply, 400, 'invalid_model', message);
    }
    const turns = Array.isArray(messages) ? (messages as { content?: unknown }[]) : [];
    const prompt = textOfContent(turns.at(-1)?.content);
    if (prompt === '') return fault(reply, 400, 'bad_request', 'At body -> messages: Field required');
    const engineAnswer = answerOf('perplexity', context);
    return plainJson(reply, 200, completionOf(engineAnswer, model, prompt, context.clock.now()));
  };
}

/** Returns the answer. A mark in the text, such as [1], is a position in the list of citations. */
function completionOf(engineAnswer: EngineAnswer, model: string, prompt: string, now: Date): object {
  return {
    id: uuidOf(engineAnswer.seed),
    model,
    created: Math.floor(now.getTime() / 1000),
    usage: usageOf(prompt, engineAnswer.text),
    citations: engineAnswer.pages.map(({ url }) => url),
    search_results: engineAnswer.pages.map((page) => resultOf(page, now)),
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: engineAnswer.text },
        delta: { role: 'assistant', content: '' },
        finish_reason: 'stop',
      },
    ],
  };
}

function resultOf({ url, title, host }: Page, now: Date): object {
  const snippet = `What ${host} says of it.`;
  return { title, url, last_updated: now.toISOString().slice(0, 10), snippet, source: 'web' };
}

function usageOf(prompt: string, text: string): object {
  const [asked, answered] = [tokensOf(prompt), tokensOf(text)];
  const cost = (tokens: number) => Number((tokens * TOKEN_COST).toFixed(6));
  return {
    prompt_tokens: asked,
    completion_tokens: answered,
    total_tokens: asked + answered,
    search_context_size: 'low',
    cost: {
      input_tokens_cost: cost(asked),
      output_tokens_cost: cost(answered),
      request_cost: REQUEST_COST,
      total_cost: Number((REQUEST_COST + cost(asked + answered)).toFixed(6)),
    },
  };
}

function uuidOf(seed: string): string {
  const hex = charactersFrom(`perplexity ${seed}`, '0123456789abcdef', 32);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function refuse(reply: FastifyReply, status: number, message = ''): FastifyReply {
  return fault(reply, status, TYPES[status] ?? 'bad_request', MESSAGES[status] ?? message);
}

function fault(reply: FastifyReply, status: number, type: string, message: string): FastifyReply {
  return plainJson(reply, status, { error: { message, type, code: status } });
}
