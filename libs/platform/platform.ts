import type { ClickHouseClient } from '#clickhouse';
import type { EventStore } from '#event-store';
import type { Bus } from '#messaging';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import type { Stoppable } from '#transport';

/** The connections of one service. */
export interface Platform {
  log: Logger;
  bus: Bus;
  store: EventStore;
  database: Database;
  clickhouse: ClickHouseClient;
}

/** Injection tokens of the platform's parts. */
export const LOG = Symbol('log');
export const BUS = Symbol('bus');
export const STORE = Symbol('event store');
export const DATABASE = Symbol('database');
export const CLICKHOUSE = Symbol('clickhouse');

/** Injection token of a service's `WorkList`. */
export const WORK = Symbol('work');

/** Work that a service does without a message: for example the polling loop or the retry loop. */
export interface Loop extends Stoppable {
  start(): Promise<void> | void;
}

/** The work of a service besides its controllers. The module of the service lists it. */
export interface WorkList {
  loops: readonly Loop[];
  /** Called after all loops and controllers have stopped, or after their time limit: closes what they used. */
  afterStop?(): Promise<void>;
}

/**
 * The User-Agent header of outbound requests: to upstreams, webhooks, channels and models. Requests to Reddit have
 * another one, which names the Reddit app (`libs/sources/reddit/sign-in.ts`).
 */
export const USER_AGENT = 'Earshot/0.1 (self-hosted brand monitoring)';
