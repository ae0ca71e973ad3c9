import { create, toBinary, type Message, type MessageInitShape } from '@bufbuild/protobuf';
import { AttemptSchema } from '#contracts';
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
  return unstored(delivery, number, at, {
    durationMs,
    statusCode,
    delivered,
    message,
    nextAttemptAt: nextAt === undefined ? '' : isoOf(nextAt),
    firstAt: number === 1 ? '' : isoOf(delivery.firstAt),
  });
}

/** The record that an endpoint was disabled. */
export function disabledMessage({ last, reason, failures }: DisabledEndpoint): Unstored {
  const { delivery, at, statusCode } = last;
  return unstored(delivery, 0, at, {
    statusCode,
    message: `the endpoint is disabled: ${reason}`,
    endpointDisabled: { url: delivery.endpoint, reason, failures, lastStatusCode: statusCode },
  });
}

/** What one record differs from the next in. */
type Fields = Exclude<MessageInitShape<typeof AttemptSchema>, Message>;

function unstored(
  { eventId, target, accountId, watchId, keywordId, source, endpoint }: Addressed,
  number: number,
  at: number,
  rest: Fields,
): Unstored {
  const kind = rest.endpointDisabled ? 'endpoint-disabled' : 'attempt';
  const attemptId = derivedId(kind, eventId, target.id, String(number), String(at));
  const attempt = create(AttemptSchema, {
    ...rest,
    attemptId,
    accountId,
    watchId,
    keywordId,
    source,
    eventId,
    target,
    endpoint: displayUrl(endpoint),
    number,
    at: isoOf(at),
  });
  return {
    subject: subjectOf('ATTEMPTS', accountId, watchId),
    data: toBinary(AttemptSchema, attempt),
    msgId: attemptId,
  };
}
