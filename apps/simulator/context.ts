import type { Clock } from '#kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SourceId } from '#contracts';
import type { World } from './world/world.js';

/** What every part of the simulator works with. */
export interface SimContext {
  world: World;
  clock: Clock;
  /** Address of this server, without a slash at the end. */
  baseUrl(): string;
  limits: RequestLimits;
}

/** Requests that an upstream takes in its window before it answers 429. */
export interface RequestLimits {
  reddit: number;
  bluesky: number;
  /** Of each endpoint. */
  x: number;
  mastodon: number;
  /** Searches in ten minutes. */
  lemmy: number;
  /** Searches a minute with a token; without one a third. */
  github: number;
  /** Points in a quarter of an hour. */
  producthunt: number;
  /** A day, with a key; without one a small part. */
  stackoverflow: number;
}

/** The source that a route belongs to, and whether it is only a way in (faults leave sign-in alone). */
export interface RouteConfig {
  source?: SourceId;
  signIn?: boolean;
}

declare module 'fastify' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- the way fastify asks for it
  interface FastifyContextConfig extends RouteConfig {}
}

/** The query of a request, each key once (the first of repeated ones), beside the repeated values. */
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

/** Requests counted in windows of fixed length, as the upstreams' headers tell them. */
export class RequestWindow {
  private endsAt = 0;
  used = 0;

  constructor(
    private readonly clock: Clock,
    readonly limit: number,
    readonly seconds: number,
  ) {}

  /** Counts one request, or the points that it costs; false when the window's limit is passed. */
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

  /** Epoch milliseconds. */
  get resetsAt(): number {
    return this.endsAt;
  }
}

/** Answers JSON with a status, as upstreams do for faults. */
export function answer(reply: FastifyReply, status: number, body: unknown): FastifyReply {
  return reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(body));
}
