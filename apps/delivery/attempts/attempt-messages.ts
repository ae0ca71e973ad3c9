import { create, toBinary } from '@bufbuild/protobuf';
import { AttemptSchema } from '#contracts';
import type { Unstored } from '#event-store';
import { displayUrl } from '#http-out';
import { derivedId, isoOf } from '#kernel';
import { subjectOf } from '#messaging';
import { soleCause } from '#telemetry';
import { channelIdIn } from '../channels/channel.js';
import type { Addressed, AttemptResult } from './delivery.js';
import type { DisabledEndpoint } from './endpoints.js';
import { writeAttempts, type WrittenAttempt } from '../wire/attempt.writer.js';

/** An attempt and its result. */
export interface Recorded<D extends Addressed = AttemptResult['delivery']> extends Omit<
  AttemptResult,
  'delivery'
> {
  delivery: D;
  /** Time of the next attempt in ms; undefined if the event is delivered or given up. */
  nextAt: number | undefined;
}

/**
 * Maximum number of attempts in one message. Without this maximum, attempts with long addresses would make a message
 * too large, and consumers would read batches that are too large.
 */
const MAX_PER_MESSAGE = 50;

/** The attempts of one message. */
interface Group {
  subject: string;
  attempts: WrittenAttempt[];
  causes: string[];
}

/**
 * Builds the records of attempts, grouped by watch.
 * @param numberOf number of the attempt, from 1; 0 if no request was made
 */
export function attemptMessages<D extends Addressed>(
  recorded: readonly Recorded<D>[],
  numberOf: (delivery: D) => number,
): Unstored[] {
  const groups: Group[] = [];
  const open = new Map<string, Group>();
  const shownEndpoints = new Map<string, string>();
  for (const one of recorded) {
    const { accountId, watchId, endpoint } = one.delivery;
    const subject = subjectOf('ATTEMPTS', accountId, watchId);
    let group = open.get(subject);
    if (!group || group.attempts.length === MAX_PER_MESSAGE) {
      group = { subject, attempts: [], causes: [] };
      open.set(subject, group);
      groups.push(group);
    }
    const shown = shownEndpoints.get(endpoint) ?? shownEndpoint(endpoint);
    shownEndpoints.set(endpoint, shown);
    group.attempts.push(attemptOf(one, numberOf(one.delivery), shown));
    if (one.delivery.cause !== undefined) group.causes.push(one.delivery.cause);
  }
  return groups.map(messageOf);
}

/** Removes query, fragment and credentials from an address. Returns the endpoint of a channel unchanged. */
function shownEndpoint(endpoint: string): string {
  return channelIdIn(endpoint) === undefined ? displayUrl(endpoint) : endpoint;
}

/**
 * Makes one message of attempts. The message id is derived from the ids of the attempts, so that a message that is
 * published twice is stored only once.
 */
function messageOf({ subject, attempts, causes }: Group): Unstored {
  const [first] = attempts;
  const msgId =
    first && attempts.length === 1
      ? first.attemptId
      : derivedId('attempts', ...attempts.map(({ attemptId }) => attemptId));
  return { subject, data: writeAttempts(attempts), msgId, cause: soleCause(causes) };
}

function attemptOf(
  { delivery, at, durationMs, statusCode, delivered, message, nextAt }: Recorded<Addressed>,
  number: number,
  endpoint: string,
): WrittenAttempt {
  const {
    eventId,
    target,
    accountId,
    watchId,
    keywordId,
    source,
    firstAt,
    pending,
    channelKind = '',
  } = delivery;
  // All fields are in one literal, because this code runs for each delivery, and merging objects costs several times as
  // much.
  return {
    attemptId: derivedId('attempt', eventId, target.id, String(number), String(at)),
    accountId,
    watchId,
    keywordId,
    source,
    eventId,
    endpoint,
    number,
    at: isoOf(at),
    durationMs,
    statusCode,
    delivered,
    message,
    nextAttemptAt: nextAt === undefined ? '' : isoOf(nextAt),
    targetKind: target.kind,
    targetId: target.id,
    // `firstAt` is empty if it is the same time as `at`. A delivery can wait before attempt 1, for example after a 429
    // of a channel. Then `firstAt` is earlier than `at`.
    firstAt: number === 1 && !pending ? '' : isoOf(firstAt),
    channelId: channelIdIn(delivery.endpoint) ?? '',
    channelKind,
  };
}

/** Returns the record of a disabled endpoint. */
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
  return {
    subject: subjectOf('ATTEMPTS', accountId, watchId),
    data: toBinary(AttemptSchema, attempt),
    msgId: attempt.attemptId,
    cause: delivery.cause,
  };
}
