import type { ClickHouseClient } from '#clickhouse';
import type { EventStore } from '#event-store';
import type { Bus, CommandHandler, Durable } from '#messaging';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';

/** The connections of one service: what the outside gives it. */
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

/** Work of its own that a service does besides messages: a polling loop, a retry lane. */
export interface Loop {
  name: string;
  start(): Promise<void> | void;
  /** Finishes what is under way and returns. */
  stop(): Promise<void>;
}

/** Everything a service does: its module lists it, where a reader looks for it. */
export interface WorkList {
  durables: readonly Durable[];
  commands: readonly CommandHandler[];
  loops: readonly Loop[];
  /** Called when nothing of the above runs any more: closes what they used. */
  afterStop?(): Promise<void>;
}

/** How Earshot names itself to upstreams and receivers. */
export const USER_AGENT = 'Earshot/0.1 (self-hosted brand monitoring)';
