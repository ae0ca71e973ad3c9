import type { ClickHouseClient } from '#clickhouse';
import type { EventStore } from '#event-store';
import type { Bus } from '#messaging';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import type { Stoppable } from '#transport';

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

/** Work that a service does by itself, without a message: a polling loop, a retry lane. */
export interface Loop extends Stoppable {
  start(): Promise<void> | void;
}

/** What a service does besides its controllers: the module lists it. */
export interface WorkList {
  loops: readonly Loop[];
  /** Called when neither loops nor controllers work any more: closes what they used. */
  afterStop?(): Promise<void>;
}

/** How Earshot names itself to upstreams and receivers. */
export const USER_AGENT = 'Earshot/0.1 (self-hosted brand monitoring)';
