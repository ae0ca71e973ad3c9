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

/** Attempts in one message at most: a batch of a reader stays small, and so does a message of long addresses. */
const MOST_IN_MESSAGE = 50;

/**
 * The records of attempts, those of one watch together.
 * @param numberOf from 1; 0 for an attempt that was not made
 */
export function attemptMessages<D extends Addressed>(
  recorded: readonly Recorded<D>[],
  numberOf: (delivery: D) => number,
): Unstored[] {
  const open = new Map<string, Attempt[]>();
  const groups: Attempt[][] = [];
  for (const one of recorded) {
    const { accountId, watchId } = one.delivery;
    const subject = subjectOf('ATTEMPTS', accountId, watchId);
    let group = open.get(subject);
    if (!group || group.length === MOST_IN_MESSAGE) {
      group = [];
      open.set(subject, group);
      groups.push(group);
    }
    group.push(attemptOf(one, numberOf(one.delivery)));
  }
  return groups.map(stored);
}

function attemptOf(
  { delivery, at, durationMs, statusCode, delivered, message, nextAt }: Recorded<Addressed>,
  number: number,
): Attempt {
  const { eventId, target, accountId, watchId, keywordId, source, endpoint, firstAt } = delivery;
  // Every field in one literal: this is made for each delivery, and objects put together from others cost several times
  // as much.
  return create(AttemptSchema, {
    attemptId: derivedId('attempt', eventId, target.id, String(number), String(at)),
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
  return stored([attempt]);
}

/** The message id is derived from what the message holds, so that a repeated publish is stored once. */
function stored(group: Attempt[]): Unstored {
  const [first] = group;
  if (!first) throw new Error('a message of ATTEMPTS holds at least one attempt');
  const isAlone = group.length === 1;
  return {
    subject: subjectOf('ATTEMPTS', first.accountId, first.watchId),
    data: toBinary(AttemptSchema, isAlone ? first : create(AttemptSchema, { attempts: group })),
    msgId: isAlone ? first.attemptId : derivedId('attempts', ...group.map(({ attemptId }) => attemptId)),
  };
}
