import { create } from '@bufbuild/protobuf';
import { request } from 'undici';
import { OpenAccountSchema } from '#contracts';
import { newId } from '#kernel';
import { COMMANDS, connectBus } from '#messaging';
import { createLogger } from '#telemetry';

/** Any parsed JSON. */
// oxlint-disable-next-line typescript/no-explicit-any -- a declared type would not check the answer
export type Json = any;

/** A response of the gateway. */
export interface ApiAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Parsed JSON; undefined if the body is not a JSON object. */
  body: Json;
  text: string;
}

/** A request and its response. */
export interface ApiExchange {
  method: string;
  path: string;
  answer: ApiAnswer;
}

/** Calls the gateway as one account. */
export class ApiClient {
  /** @param check receives every response, and throws if the response is wrong */
  constructor(
    readonly url: string,
    readonly apiKey: string,
    private readonly check: (exchange: ApiExchange) => void = () => undefined,
  ) {}

  get(path: string): Promise<ApiAnswer> {
    return this.call('GET', path);
  }

  post(path: string, body: unknown, headers?: Record<string, string>): Promise<ApiAnswer> {
    return this.call('POST', path, body, headers);
  }

  patch(path: string, body: unknown): Promise<ApiAnswer> {
    return this.call('PATCH', path, body);
  }

  delete(path: string): Promise<ApiAnswer> {
    return this.call('DELETE', path);
  }

  /** Follows `nextCursor` to the end. @returns every element of `data` */
  async all(path: string): Promise<Json[]> {
    const found = [];
    let cursor: string | undefined;
    do {
      const separator = path.includes('?') ? '&' : '?';
      const { body } = await this.get(
        cursor ? `${path}${separator}cursor=${encodeURIComponent(cursor)}` : path,
      );
      found.push(...body.data);
      cursor = body.nextCursor;
    } while (cursor);
    return found;
  }

  async call(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiAnswer> {
    const answer = await request(`${this.url}${path}`, {
      method,
      headers: {
        ...headers,
        'x-api-key': this.apiKey,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    const given: ApiAnswer = {
      status: answer.statusCode,
      headers: answer.headers,
      text,
      body: text.startsWith('{') ? JSON.parse(text) : undefined,
    };
    this.check({ method, path, answer: given });
    return given;
  }
}

/** Opens an account on a running installation. */
export async function openAccount(
  natsUrl: string,
  plan = 'unlimited',
): Promise<{ accountId: string; apiKey: string; signingSecret: string }> {
  const bus = await connectBus(natsUrl, 'test', createLogger('test', 'silent'));
  try {
    // Nest takes a second to load, so only specs that open an account load it.
    const { CommandClient } = await import('#transport');
    const command = create(OpenAccountSchema, { commandId: newId(), email: `${newId()}@example.org`, plan });
    const { accountId, apiKey, signingSecret } = await new CommandClient(bus).request(
      COMMANDS.openAccount,
      command,
    );
    return { accountId, apiKey, signingSecret };
  } finally {
    await bus.close();
  }
}
