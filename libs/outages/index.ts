import { ClickHouseError } from '@clickhouse/client';
import { JetStreamApiError, JetStreamError } from '@nats-io/jetstream';
import {
  ClosedConnectionError,
  ConnectionError,
  DrainingConnectionError,
  NoRespondersError,
  RequestError,
  TimeoutError,
} from '@nats-io/nats-core';
import pg from 'pg';
import { QueryFailedError } from 'typeorm';
import { Outage, Refusal } from '#kernel';

/**
 * Returns true if a store cannot be reached or cannot answer now; false if the request itself is at fault. Decides only
 * by the type and the code of the error, never by its text, which can quote a user.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof Outage) return true;
  if (error instanceof QueryFailedError) return isPostgresOutage(error.driverError);
  if (error instanceof ClickHouseError) return CLICKHOUSE_OUTAGES.has(error.code);
  return isNatsOutage(error);
}

/** The end of the text that a caller gets after an outage. Callers who must not simply repeat the request remove it. */
export const ADVICE_TO_REPEAT = '; try again';

/**
 * Returns the refusal that the caller of a request gets for an error: a refusal unchanged, `unavailable` for an outage,
 * `internal` for every other error. The last two contain no text of the error, which can contain internal data.
 */
export function refusalFor(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  return isOutage(error)
    ? Refusal.unavailable(`a store that this request needs cannot answer now${ADVICE_TO_REPEAT}`)
    : new Refusal('internal', 'INTERNAL', 'internal error');
}

/**
 * SQLSTATE classes and codes of PostgreSQL (appendix A of its manual): 08 connection, 53 resources, 57P0x shutdown,
 * 57014 statement timeout, 55P03 lock timeout, 40001 and 40P01 serialisation and deadlock, 25006 read-only, 58030 I/O.
 */
const POSTGRES_OUTAGE = /^(08\w{3}|53\w{3}|57P0\w|57014|55P03|40001|40P01|25006|58030)$/;

/**
 * Returns whether the error of a query is an outage. An error of pg itself, which comes neither from the server nor
 * from our parameters, is an error of the connection.
 */
function isPostgresOutage(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return POSTGRES_OUTAGE.test(error.code ?? '');
  return error instanceof Error && !(error instanceof TypeError || error instanceof RangeError);
}

/**
 * ClickHouse's codes (`ErrorCodes.cpp` there, or `errorCodeToName` in SQL) for a server that cannot answer now:
 *
 * - overloaded or shutting down: 159 timeout, 202 too many queries, 203 no free connection, 241 memory, 252 too many
 *   parts, 394 query killed, 439 no thread, 745 overloaded
 * - network: 209, 210
 * - disk: 242 read-only, 243 no space
 * - files that cannot be read, written or opened, for example without inodes or file descriptors: 74, 75, 76; pipes,
 *   timers and epoll without file descriptors: 298, 460, 573
 * - 1001 exception of the C++ library, which an insert causes if its directory cannot be created (no inodes)
 * - 516 authentication failed: the password has been changed on the server, but not yet in the address
 *
 * 1002 (unknown exception) is not here, because it does not tell whether a retry can succeed.
 */
const CLICKHOUSE_OUTAGES = new Set(
  '74 75 76 159 202 203 209 210 241 242 243 252 298 394 439 460 516 573 745 1001'.split(' '),
);

const NATS_OUTAGES = [
  ClosedConnectionError,
  ConnectionError,
  DrainingConnectionError,
  NoRespondersError,
  TimeoutError,
];
/** 503: the server currently has no leader, no resources or no JetStream. 408: it did not answer in time. */
const NATS_OUTAGE_STATUS: ReadonlySet<number> = new Set([408, 503]);
/** JetStream's error code for an account whose storage is full. The status is 400, although no request is at fault. */
const ACCOUNT_FULL = 10_002;

function isNatsOutage(error: unknown): boolean {
  if (error instanceof JetStreamApiError)
    return NATS_OUTAGE_STATUS.has(error.status) || error.code === ACCOUNT_FULL;
  // The class of the server's status messages is not exported, so the code decides.
  if (error instanceof JetStreamError && 'code' in error) return NATS_OUTAGE_STATUS.has(Number(error.code));
  // An error without a status: a pull missed its heartbeats, because the connection is slow or the machine is busy.
  if (error instanceof JetStreamError && error.constructor === JetStreamError) return true;
  if (error instanceof RequestError) return error.isNoResponders() || isNatsOutage(error.cause);
  // If no stream answers a publish, or the server has no JetStream now, the client throws a class that it does not
  // export. The cause decides.
  const { cause } = error instanceof Error ? error : {};
  if (cause instanceof RequestError) return cause.isNoResponders();
  if (cause instanceof JetStreamApiError) return isNatsOutage(cause);
  return NATS_OUTAGES.some((type) => error instanceof type);
}
