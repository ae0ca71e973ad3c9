import type { FastifyReply, FastifyRequest } from 'fastify';
import { answer, type SimContext } from '../context.js';
import type { SimulatedSource } from '../sources/simulated-source.js';
import { answerFaults } from './answer-faults.js';
import { answerTo, itemsIn, notStrict, violation } from './answers.js';
import { embeddingOf } from './embeddings.js';

/** The path of the simulated language model below the simulator's address. */
export const LLM_PATH = '/llm/v1';
/** The only token that the simulated server accepts. */
export const LLM_TOKEN = 'sim-llm';
const CHAT_MODEL = 'sim-chat';
const EMBEDDING_MODEL = 'sim-embedding';

const SERVED = { config: { source: 'llm' as const } };

/** An OpenAI-compatible server: chat with a JSON schema, embeddings, and the list of models. */
export const llmServer: Pick<SimulatedSource, 'routes' | 'refuse'> = {
  routes(app, context) {
    app.post(`${LLM_PATH}/chat/completions`, SERVED, (request, reply) => chat(request, reply, context));
    app.post(`${LLM_PATH}/embeddings`, SERVED, (request, reply) => embeddings(request, reply));
    app.get(`${LLM_PATH}/models`, SERVED, (request, reply) => {
      if (!isAuthorized(request)) return refuse(reply, 401);
      const data = [CHAT_MODEL, EMBEDDING_MODEL].map((id) => ({
        id,
        object: 'model',
        owned_by: 'simulator',
      }));
      return answer(reply, 200, { object: 'list', data });
    });
  },
  refuse,
};

function chat(request: FastifyRequest, reply: FastifyReply, { clock }: SimContext): FastifyReply {
  if (!isAuthorized(request)) return refuse(reply, 401);
  const { model, messages, response_format: format } = bodyOf(request);
  if (model !== CHAT_MODEL) return refuse(reply, 404, `The model ${JSON.stringify(model)} does not exist.`);
  const schema = ((format as Json | undefined)?.json_schema as Json | undefined)?.schema as Json | undefined;
  if (!Array.isArray(messages) || messages.length === 0) return refuse(reply, 400, 'messages is required.');
  if (!schema) return refuse(reply, 400, 'This server only answers with a json_schema.');
  const unknown = notStrict(schema);
  if (unknown)
    return refuse(
      reply,
      400,
      `Invalid schema for response_format 'readings': '${unknown}' is not permitted.`,
    );
  const contents = (messages as Json[]).map(({ content }) => String(content));
  // The items are in the first message of the user; later messages report a fault of an answer.
  const items = itemsIn(contents[1] ?? contents[0] ?? '');
  const fault = answerFaults.get(request);
  const completion = fault === 'schema_violation' ? violation(items) : answerTo(schema, items);
  const whole = JSON.stringify(completion);
  const content = fault === 'invalid_json' ? `Sure! ${whole}` : fault === 'cut_off' ? half(whole) : whole;
  const declined = fault === 'declined';
  const [tokensIn, tokensOut] = [contents.join('').length, content.length].map((size) => Math.ceil(size / 4));
  return answer(reply, 200, {
    id: `chatcmpl-${request.id}`,
    object: 'chat.completion',
    created: Math.floor(clock.now().getTime() / 1000),
    model: `${CHAT_MODEL}-1`,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: declined ? null : content,
          refusal: declined ? "I can't help with that." : null,
        },
        finish_reason: fault === 'cut_off' ? 'length' : 'stop',
      },
    ],
    usage: {
      prompt_tokens: tokensIn,
      completion_tokens: tokensOut,
      total_tokens: (tokensIn ?? 0) + (tokensOut ?? 0),
    },
  });
}

function embeddings(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!isAuthorized(request)) return refuse(reply, 401);
  const { model, input } = bodyOf(request);
  if (model !== EMBEDDING_MODEL)
    return refuse(reply, 404, `The model ${JSON.stringify(model)} does not exist.`);
  const texts = typeof input === 'string' ? [input] : input;
  if (!Array.isArray(texts) || texts.length === 0 || !texts.every((text) => typeof text === 'string'))
    return refuse(reply, 400, 'input is a string, or a list of strings.');
  const tokens = Math.ceil(texts.join('').length / 4);
  return answer(reply, 200, {
    object: 'list',
    data: texts.map((text, index) => ({ object: 'embedding', index, embedding: embeddingOf(text) })),
    model: EMBEDDING_MODEL,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
}

type Json = Record<string, unknown>;

function bodyOf({ body }: FastifyRequest): Json {
  return typeof body === 'object' && body !== null ? (body as Json) : {};
}

function isAuthorized({ headers }: FastifyRequest): boolean {
  return headers.authorization === `Bearer ${LLM_TOKEN}`;
}

function half(text: string): string {
  return text.slice(0, text.length >> 1);
}

function refuse(reply: FastifyReply, status: number, message = ''): FastifyReply {
  const { authorization = '' } = reply.request.headers;
  // Like the real server, the simulator repeats the unknown token.
  const shown =
    status === 401 ? `Incorrect API key provided: ${authorization.replace(/^Bearer /, '')}.` : message;
  const type = status >= 500 ? 'server_error' : 'invalid_request_error';
  return answer(reply, status, { error: { message: shown, type, param: null, code: null } });
}
