import { request } from 'undici';
import { ApiClient, type Json } from '#testing';
import type { Customer } from './scenario.js';

/** One account's client: each request goes to the next gateway. */
export class RotatingClient {
  private turn = 0;
  private readonly clients: ApiClient[];

  constructor(
    readonly customer: Customer,
    gateways: readonly string[],
  ) {
    this.clients = gateways.map((url) => new ApiClient(url, customer.api.apiKey));
  }

  /** The client of the next gateway. */
  get api(): ApiClient {
    this.turn += 1;
    const next = this.clients[this.turn % this.clients.length];
    if (!next) throw new Error('no gateway');
    return next;
  }

  /** Sends the same POST several times at the same time, to all gateways, with one key. @returns its result */
  async once(path: string, body: unknown, key: string): Promise<{ status: number; body: Json }> {
    const send = async () => {
      const { url, apiKey } = this.api;
      const answer = await request(`${url}${path}`, {
        method: 'POST',
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify(body),
      });
      return { status: answer.statusCode, body: (await answer.body.json()) as Json };
    };
    const answers = await Promise.all([send(), send(), send(), send()]);
    const done = answers.filter(({ body: { code } }) => code !== 'IDEMPOTENCY_IN_PROGRESS');
    const [first] = done;
    if (!first) throw new Error(`no answer to ${path}: ${JSON.stringify(answers)}`);
    for (const other of done)
      if (JSON.stringify(other) !== JSON.stringify(first))
        throw new Error(`two answers to ${path}: ${JSON.stringify([first, other])}`);
    return first;
  }
}
