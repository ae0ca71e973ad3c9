import { create, toBinary } from '@bufbuild/protobuf';
import { AttemptSchema, type Attempt } from '#contracts';
import type { Unstored } from '#event-store';
import { displayUrl } from '#http-out';
import { derivedId, isoOf } from '#kernel';
import { subjectOf } from '#messaging';
import type { Addressed, AttemptResult } from './delivery.js';
import type { DisabledEndpoint } from './endpoints.js';

/** An attempt and what follows it. */
export interface Recorded<D extends Addressed = AttemptResult['delivery']> extends Omit<
  AttemptResult,
  'delivery'
> {
  delivery: D;
  /** When it is tried again, in ms; undefined: delivered, or given up. */
  nextAt: number | undefined;
}

/**
 * The record of an attempt.
 * @param number from 1; 0 for an attempt that was not made
 */
export function attemptMessage(
  { delivery, at, durationMs, statusCode, delivered, message, nextAt }: Recorded<Addressed>,
  number: number,
): Unstored {
  const { eventId, target, accountId, watchId, keywordId, source, endpoint, firstAt } = delivery;
  const attemptId = derivedId('attempt', eventId, target.id, String(number), String(at));
  // Every field in one literal: this is made for each delivery, and objects put together from others cost several times
  // as much.
  const attempt = create(AttemptSchema, {
    attemptId,
    accountId,
    watchId,
    keywordId,
    source,
    eventId,
    endpoint: displayUrl(endpoint),
    number,
    at: isoOf(at),
    durationMs,
    statusCode,
    delivered,
    message,
    nextAttemptAt: nextAt === undefined ? '' : isoOf(nextAt),
    targetKind: target.kind,
    targetId: target.id,
    firstAt: number === 1 ? '' : isoOf(firstAt),
  });
  return stored(attempt);
}

/** The record that an endpoint was disabled. */
export function disabledMessage({ last, reason, failures }: DisabledEndpoint): Unstored {
  const { delivery, at, statusCode } = last;
  const { eventId, target, accountId, watchId, keywordId, source, endpoint } = delivery;
  const attempt = create(AttemptSchema, {
    attemptId: derivedId('endpoint-disabled', eventId, target.id, String(at)),
    accountId,
    watchId,
    keywordId,
    source,
    eventId,
    endpoint: displayUrl(endpoint),
    at: isoOf(at),
    statusCode,
    message: `the endpoint is disabled: ${reason}`,
    targetKind: target.kind,
    targetId: target.id,
    endpointDisabled: { url: endpoint, reason, failures, lastStatusCode: statusCode },
  });
  return stored(attempt);
}

function stored(attempt: Attempt): Unstored {
  return {
    subject: subjectOf('ATTEMPTS', attempt.accountId, attempt.watchId),
    data: toBinary(AttemptSchema, attempt),
    msgId: attempt.attemptId,
  };
}
