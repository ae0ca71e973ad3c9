import { request } from 'undici';
import { ApiClient, type ApiAnswer, type Json } from '#testing';
import { checkDescribed } from './described.js';

/** A browser on the page of one gateway: it keeps the cookie, and sends the token of the session with writes. */
export class Browser {
  cookie = '';
  csrfToken = '';

  /** @param headers that each request sends as well */
  constructor(
    readonly url: string,
    private readonly headers: Record<string, string> = {},
  ) {}

  get(path: string, headers?: Record<string, string>): Promise<ApiAnswer> {
    return this.call('GET', path, undefined, headers);
  }

  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer> {
    return this.call('POST', path, body, headers);
  }

  async call(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiAnswer> {
    const answer = await request(this.url + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(this.cookie === '' ? {} : { cookie: this.cookie }),
        ...(method === 'GET' || this.csrfToken === '' ? {} : { 'x-csrf-token': this.csrfToken }),
        ...this.headers,
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    const read: ApiAnswer = {
      status: answer.statusCode,
      headers: answer.headers,
      body: text === '' ? undefined : (JSON.parse(text) as Json),
      text,
    };
    const set = [answer.headers['set-cookie'] ?? []].flat()[0];
    if (set !== undefined) this.cookie = /Max-Age=0/.test(set) ? '' : (set.split(';')[0] ?? '');
    if (read.body?.csrfToken) this.csrfToken = read.body.csrfToken as string;
    if (path.startsWith('/v1')) checkDescribed({ method, path, answer: read });
    return read;
  }

  /** Returns a client with an API key, on the same gateway. */
  withKey(apiKey: string): ApiClient {
    return new ApiClient(this.url, apiKey, checkDescribed);
  }
}
