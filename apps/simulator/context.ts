import type { Clock } from '#kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SourceId } from '#contracts';
import type { ChatService } from './channels/chat-service.js';
import type { World } from './world/world.js';

/** The objects that the simulated sources and the simulated language model use. */
export interface SimContext {
  world: World;
  clock: Clock;
  /** Address of this server, without a slash at the end. */
  baseUrl(): string;
  limits: RequestLimits;
}

/** Number of requests that an upstream accepts in its window before it refuses requests. */
export interface RequestLimits {
  reddit: number;
  bluesky: number;
  /** Requests per endpoint. */
  x: number;
  mastodon: number;
  /** Searches in ten minutes. */
  lemmy: number;
  /** Searches per minute with a token; a third of this number without a token. */
  github: number;
  /** Points in 15 minutes. */
  producthunt: number;
  /** Requests per day with a key; a small part of this number without a key. */
  stackoverflow: number;
}

/** A simulated service: a source, the operator's language model, or a chat service. */
export type SimulatedService = SourceId | 'llm' | ChatService['service'];

/**
 * The simulated service of a route, and whether the route is part of the sign-in. Faults do not affect the sign-in.
 * Routes without a service, such as `/_sim` and `/hooks`, are not logged and have no faults.
 */
export interface RouteConfig {
  source?: SimulatedService;
  signIn?: boolean;
}

declare module 'fastify' {
  // oxlint-disable-next-line typescript/no-empty-object-type -- fastify requires this form
  interface FastifyContextConfig extends RouteConfig {}
}

/** Reads the query of a request. `one` returns the first value of a key, `all` returns all its values. */
export function queryOf(request: FastifyRequest): {
  one(key: string): string | undefined;
  all(key: string): string[];
} {
  const values = request.query as Record<string, string | string[] | undefined>;
  const all = (key: string): string[] => {
    const value = values[key];
    return value === undefined ? [] : Array.isArray(value) ? value : [value];
  };
  return { one: (key) => all(key)[0], all };
}

/** Counts the requests, or their points, in windows of a fixed length. A window begins with its first request. */
export class RequestWindow {
  private endsAt = 0;
  used = 0;

  constructor(
    private readonly clock: Clock,
    readonly limit: number,
    readonly seconds: number,
  ) {}

  /** Counts one request, or the points that it costs. Returns false if the window's limit is exceeded. */
  take(points = 1): boolean {
    const now = this.clock.now().getTime();
    if (now >= this.endsAt) {
      this.endsAt = now + this.seconds * 1000;
      this.used = 0;
    }
    this.used += points;
    return this.used <= this.limit;
  }

  get remaining(): number {
    return Math.max(0, this.limit - this.used);
  }

  /** The end of the present window, in epoch milliseconds. */
  get resetsAt(): number {
    return this.endsAt;
  }
}

/** Sends a response with this status and `body` as JSON. */
export function answer(reply: FastifyReply, status: number, body: unknown): FastifyReply {
  return reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(body));
}
