import type { FastifyReply, FastifyRequest } from 'fastify';
import { answer } from '../../context.js';
import type { SimContext } from '../../context.js';
import { bodyOf, opaque, placeOf, queryOfPrompt, answerOf, textOfContent, tokensOf } from './engine.js';
import type { SimulatedEngine, Page, EngineAnswer } from './engine.js';
import { escapeAttribute, escapeMarkup } from '../shared/markup.js';

const REDIRECT = 'https://vertexaisearch.cloud.google.com/grounding-api-redirect';
const STATES: Record<number, string> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};
const MESSAGES: Record<number, string> = {
  401: 'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.',
  403: 'The caller does not have permission',
  429: 'You exceeded your current quota, please check your plan and billing details.',
  500: 'An internal error has occurred. Please retry or report it.',
  503: 'The model is overloaded. Please try again later.',
};
const BAD_KEY = 'API key not valid. Please pass a valid API key.';
const NO_KEY =
  "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.";

/** Gemini's method generateContent with Google's web search. Responses do not report the limits of requests. */
export const geminiEngine: SimulatedEngine = { path: '/v1beta/models/:call', open, refuse };

function open(context: SimContext): ReturnType<SimulatedEngine['open']> {
  return (request, reply) => {
    const key = request.headers['x-goog-api-key'] ?? '';
    if (key === '') return fault(reply, 403, NO_KEY);
    if (key === 'wrong') return badKey(reply);
    const [model = '', method] = (request.params as { call: string }).call.split(':');
    if (method !== 'generateContent' || !/^(gemini|gemma)-/.test(model)) {
      const shown = `models/${model} is not found for API version v1beta, or is not supported for generateContent.`;
      return fault(reply, 404, shown);
    }
    const asked = parseRequest(request);
    if (asked.prompt === '')
      return fault(reply, 400, '* GenerateContentRequest.contents: contents is not specified\n');
    return answer(reply, 200, contentOf(answerOf('gemini', context), model, asked));
  };
}

function parseRequest(request: FastifyRequest): { prompt: string; searches: boolean } {
  const { contents, tools } = bodyOf(request);
  const turns = Array.isArray(contents) ? (contents as { parts?: unknown }[]) : [];
  const offered = Array.isArray(tools) ? (tools as object[]) : [];
  return {
    prompt: textOfContent(turns.at(-1)?.parts),
    searches: offered.some((tool) => 'google_search' in tool || 'googleSearch' in tool),
  };
}

function contentOf(
  engineAnswer: EngineAnswer,
  model: string,
  { prompt, searches }: { prompt: string; searches: boolean },
): object {
  const [asked, answered] = [tokensOf(prompt), tokensOf(engineAnswer.text)];
  // Gemini 3 and later models sign their thoughts.
  const signed = /^gemini-[3-9]/.test(model) && {
    thoughtSignature: opaque(`thought ${engineAnswer.seed}`, 160),
  };
  return {
    candidates: [
      {
        content: { parts: [{ text: engineAnswer.text, ...signed }], role: 'model' },
        finishReason: 'STOP',
        index: 0,
        // Absent if the request has no search tool, or if the answer cites nothing.
        ...(searches &&
          engineAnswer.pages.length > 0 && { groundingMetadata: groundingOf(engineAnswer, prompt) }),
      },
    ],
    usageMetadata: {
      promptTokenCount: asked,
      candidatesTokenCount: answered,
      totalTokenCount: asked + answered + 100,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: asked }],
      thoughtsTokenCount: 100,
      serviceTier: 'standard',
    },
    modelVersion: model,
    responseId: opaque(`response ${engineAnswer.seed}`, 23),
  };
}

function groundingOf({ text, pages }: EngineAnswer, prompt: string): object {
  const query = queryOfPrompt(prompt);
  return {
    searchEntryPoint: { renderedContent: chipOf(query) },
    // The address leads to the page through Google; the title is the host of the page.
    groundingChunks: pages.map(({ url, host }) => ({
      web: { uri: `${REDIRECT}/AUZIYQ${opaque(url, 150)}`, title: host },
    })),
    groundingSupports: pages.map((page, index) => supportOf(page, index, text)),
    webSearchQueries: [query],
  };
}

/** Returns the part of the text that cites the page. Offsets count bytes of UTF-8; a start of 0 is left out. */
function supportOf(page: Page, index: number, text: string): object {
  const { start, end } = placeOf(page, text) ?? { start: 0, end: text.length };
  const startIndex = Buffer.byteLength(text.slice(0, start));
  const segment = {
    ...(startIndex > 0 && { startIndex }),
    endIndex: Buffer.byteLength(text.slice(0, end)),
    text: text.slice(start, end),
  };
  return { segment, groundingChunkIndices: [index] };
}

function chipOf(query: string): string {
  const parameters = new URLSearchParams({ q: query, client: 'app-vertex-grounding', safesearch: 'active' });
  const href = escapeAttribute(`https://www.google.com/search?${parameters}`);
  const chip = `<a class="chip" href="${href}">${escapeMarkup(query)}</a>`;
  return `<style>\n.container {\n  align-items: center;\n}\n</style>\n<div class="container">\n  <div class="carousel">\n${chip}\n  </div>\n</div>\n`;
}

function badKey(reply: FastifyReply): FastifyReply {
  return fault(reply, 400, BAD_KEY, [
    {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'API_KEY_INVALID',
      domain: 'googleapis.com',
      metadata: { service: 'generativelanguage.googleapis.com' },
    },
    {
      '@type': 'type.googleapis.com/google.rpc.LocalizedMessage',
      locale: 'en-US',
      message: BAD_KEY,
    },
  ]);
}

function refuse(reply: FastifyReply, status: number, message: string): FastifyReply {
  const shown = MESSAGES[status] ?? message;
  return status === 429 ? fault(reply, status, shown, quotaDetails(reply)) : fault(reply, status, shown);
}

function quotaDetails(reply: FastifyReply): object[] {
  const violation = {
    quotaMetric: 'generativelanguage.googleapis.com/generate_content_paid_tier_input_token_count',
    quotaId: 'GenerateContentPaidTierInputTokensPerModelPerMinute',
    quotaDimensions: { location: 'global', model: 'gemini-3.5-flash' },
    quotaValue: '1000000',
  };
  const seconds = Number(reply.getHeader('retry-after') ?? 48);
  return [
    { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [violation] },
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` },
  ];
}

function fault(reply: FastifyReply, code: number, message: string, details?: object[]): FastifyReply {
  const status = STATES[code] ?? 'INVALID_ARGUMENT';
  return answer(reply, code, { error: { code, message, status, ...(details && { details }) } });
}
