import OpenAI, { APIError } from 'openai';
import type { ChatCompletionCreateParamsNonStreaming, ChatCompletionMessageParam } from 'openai/resources';
import { OutboundError, readRateHeaders, type OutboundHttp } from '#http-out';
import { LlmError } from './llm-error.js';

/** Where the model is, and how to ask it. */
export interface ChatOptions {
  /** Base address; `/chat/completions` is appended. */
  url: string;
  model: string;
  /** Empty for a server that needs no token. */
  token: string;
  /** Undefined: the parameter is not sent. */
  temperature?: number | undefined;
  /** The operator's address is trusted: EGRESS_ALLOW does not apply to it. */
  http: OutboundHttp;
}

/** One message of a conversation with the model. */
export type ChatMessage = ChatCompletionMessageParam;

/** The model's answer to one request. */
export interface Completion {
  /** The answer, without the thoughts of a reasoning model. */
  text: string;
  /** The model stopped before the end of its answer, because of a limit of tokens. */
  isCut: boolean;
  /** The model, or a filter before it, refuses to answer. */
  isDeclined: boolean;
  /** The name of the model, as the server returns it. */
  model: string;
  tokensIn: number;
  tokensOut: number;
}

/** Maximum number of decoded bytes of one response. The longest valid answer is much shorter. */
const MAX_BYTES = 1024 * 1024;
/** The library's own timeout is this much later, so that our deadline ends the request first. */
const LATER_MS = 60_000;
/**
 * Matches the thoughts that some servers put before the answer of a reasoning model. The first `<think>` is missing in
 * the response if the server's chat template contains it. A response that begins with `{` or with a Markdown block has
 * no thoughts.
 */
const THOUGHTS = /^(?!\s*[{`])[\s\S]*?<\/think>/;
const NO_CONTENT = new Set([101, 204, 205, 304]);
/** Headers in which the library describes itself, this machine and the request. They are not sent. */
const UNSENT = [
  'lang',
  'package-version',
  'os',
  'arch',
  'runtime',
  'runtime-version',
  'retry-count',
  'timeout',
];

/** Sends requests to an OpenAI-compatible server, each once and with one deadline. */
export class ChatClient {
  private readonly client: OpenAI;
  private readonly host: string;

  constructor(private readonly options: ChatOptions) {
    const { url, token } = options;
    this.host = new URL(url).host;
    this.client = new OpenAI({
      baseURL: url.replace(/\/+$/, ''),
      apiKey: token || 'none',
      // Without these null values, the library would read such options from the environment.
      organization: null,
      project: null,
      webhookSecret: null,
      logLevel: 'off',
      maxRetries: 0,
      defaultHeaders: {
        ...Object.fromEntries(UNSENT.map((name) => [`x-stainless-${name}`, null])),
        'user-agent': null,
        ...(token === '' && { authorization: null }),
      },
    });
  }

  /**
   * Sends one request for JSON of the schema. Nothing guarantees that the answer fits the schema.
   * @param withinMs time limit for everything: connection, waiting, the whole answer
   * @throws LlmError
   */
  async complete(
    messages: readonly ChatMessage[],
    schema: Record<string, unknown>,
    withinMs: number,
  ): Promise<Completion> {
    const { model, temperature } = this.options;
    const body: ChatCompletionCreateParamsNonStreaming = {
      model,
      messages: [...messages],
      response_format: { type: 'json_schema', json_schema: { name: 'readings', strict: true, schema } },
      ...(temperature !== undefined && { temperature }),
    };
    try {
      const answer: unknown = await this.client
        .withOptions({ fetch: this.fetchWithin(withinMs), timeout: withinMs + LATER_MS })
        .chat.completions.create(body);
      return completionOf(answer, model);
    } catch (error) {
      throw this.errorOf(error);
    }
  }

  /** Sends the library's requests with the client for outbound HTTP: one deadline, a size limit, no redirects. */
  private fetchWithin(deadlineMs: number) {
    return async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const { status, headers, bytes } = await this.options.http.request({
        method: 'POST',
        url: String(url),
        headers: Object.fromEntries(new Headers(init?.headers)),
        body: init?.body as string,
        deadlineMs,
        maxBytes: MAX_BYTES,
        redirects: 'none',
        trusted: true,
      });
      return new Response(NO_CONTENT.has(status) ? null : Buffer.from(bytes), { status, headers });
    };
  }

  private errorOf(error: unknown): LlmError {
    const cause = error instanceof Error && error.cause instanceof OutboundError ? error.cause : error;
    if (cause instanceof OutboundError) {
      const kind = cause.kind === 'timeout' || cause.kind === 'too_large' ? cause.kind : 'network';
      return new LlmError(kind, `the language model could not be asked: ${cause.message}`);
    }
    if (error instanceof APIError && error.status !== undefined) return this.statusError(error);
    // The answer is not one of the API: for example a page of a proxy, or broken JSON.
    return new LlmError('server_error', `${this.host} did not answer as an OpenAI-compatible server does`);
  }

  private statusError(error: APIError): LlmError {
    const { status } = error as { status: number };
    const headers = Object.fromEntries((error.headers as Headers | undefined) ?? []);
    const { retryAfterMs } = readRateHeaders(headers, new Date());
    const kind =
      status === 429 ? 'rate_limited' : status >= 500 || status === 408 ? 'server_error' : 'refused';
    const message = `${this.host} answered ${status}: ${this.quoted(error.message)}`;
    return new LlmError(kind, message, kind === 'refused' ? undefined : retryAfterMs);
  }

  /** Returns a server's message for a log: without the token, which some servers repeat, and shortened. */
  private quoted(text: string): string {
    const { token } = this.options;
    const safe = token === '' ? text : text.replaceAll(token, '…');
    return safe.replace(/\p{Cc}+/gu, ' ').slice(0, 300);
  }
}

/** Reads an answer of any shape. */
function completionOf(answer: unknown, asked: string): Completion {
  const { choices, model, usage } = recordOf(answer);
  const choice = recordOf(Array.isArray(choices) ? choices[0] : undefined);
  const { content, refusal } = recordOf(choice.message);
  if (choice.message === undefined) throw new Error('no message');
  const { prompt_tokens: tokensIn, completion_tokens: tokensOut } = recordOf(usage);
  return {
    text: typeof content === 'string' ? content.replace(THOUGHTS, '') : '',
    isCut: choice.finish_reason === 'length',
    isDeclined: choice.finish_reason === 'content_filter' || (typeof refusal === 'string' && refusal !== ''),
    model: typeof model === 'string' && model !== '' ? model.slice(0, 100).toWellFormed() : asked,
    tokensIn: countOf(tokensIn),
    tokensOut: countOf(tokensOut),
  };
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function countOf(value: unknown): number {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0;
}
