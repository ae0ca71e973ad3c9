import type { SourceId } from '#contracts';
import type { Clock } from '#kernel';
import { request } from 'undici';
import { startSimulator } from '../simulator.js';
import type { Simulator, SimulatorOptions } from '../simulator.js';

/** A response of the simulator. */
export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /**
   * Returns the parsed body.
   * @throws SyntaxError if it is not JSON
   */
  json<T>(): T;
}

/** A clock that moves only when a spec calls `pass`. */
export class ManualClock implements Clock {
  constructor(private at = Date.parse('2026-03-01T12:00:00.000Z')) {}

  now(): Date {
    return new Date(this.at);
  }

  pass(seconds: number): void {
    this.at += seconds * 1000;
  }
}

/** For specs: a simulator, its clock, and a client. */
export class SimulatorClient {
  private constructor(
    readonly simulator: Simulator,
    readonly clock: ManualClock,
  ) {}

  static async start(options: SimulatorOptions = {}): Promise<SimulatorClient> {
    const clock = new ManualClock();
    return new SimulatorClient(await startSimulator({ clock, seed: 7, ...options }), clock);
  }

  async ask(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('GET', path, undefined, headers);
  }

  async post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const type = { 'content-type': 'application/json' };
    return this.send('POST', path, JSON.stringify(body), { ...type, ...headers });
  }

  /** Publishes a post through `/_sim/posts` and returns the id that the upstream shows. */
  async publish(source: SourceId, text: string, more: object = {}): Promise<string> {
    const answer = await this.post('/_sim/posts', { source, text, title: 'Untitled', ...more });
    expect(answer.status).toBe(201);
    return answer.json<{ externalId: string }>().externalId;
  }

  async send(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: string | Buffer,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await request(this.simulator.url + path, { method, headers, body: body ?? null });
    const text = await response.body.text();
    return {
      status: response.statusCode,
      headers: response.headers,
      text,
      json: <T>() => JSON.parse(text) as T,
    };
  }

  /** Signs in to reddit. Returns the header for later requests. */
  async reddit(): Promise<Record<string, string>> {
    const basic = Buffer.from('client:secret').toString('base64');
    const form = { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' };
    const granted = await this.send('POST', '/api/v1/access_token', 'grant_type=client_credentials', form);
    return { authorization: `bearer ${granted.json<{ access_token: string }>().access_token}` };
  }

  /** Signs in to bluesky. Returns the header for later requests. */
  async bluesky(): Promise<Record<string, string>> {
    const body = { identifier: 'earshot.bsky.example', password: 'app-password' };
    const opened = await this.post('/xrpc/com.atproto.server.createSession', body);
    return { authorization: `Bearer ${opened.json<{ accessJwt: string }>().accessJwt}` };
  }

  stop(): Promise<void> {
    return this.simulator.stop();
  }
}
