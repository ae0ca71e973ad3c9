import { toBinary } from '@bufbuild/protobuf';
import { CheckSchema, type Check } from '#contracts';
import { UpstreamError } from '#sources';
import { waitAfter } from '../domain/backoff.js';
import { failedCheck } from './build-checks.js';
import type { DueSearch, DueWatch } from '../due/due-work.js';

/** The parts of a check, and their messages. */
export interface CheckMessages {
  parts: Check[];
  messages: { data: Uint8Array; msgId: string }[];
  /**
   * Present if the check could not be stored, so that the parts describe a failed check. Then the next check of the
   * watch is not before `retryAt`.
   */
  fault?: UpstreamError;
  retryAt?: Date;
}

/**
 * Builds all messages of a check before the first is sent. If a message cannot be built, returns the messages of a
 * failed check with the reason.
 */
export function checkMessages(
  { search, watch, parts }: { search: DueSearch; watch: DueWatch; parts(): Check[] },
  maxBytes: number,
  now: number,
): CheckMessages {
  try {
    return encoded(parts(), maxBytes);
  } catch (error) {
    const fault =
      error instanceof UpstreamError
        ? error
        : new UpstreamError('unknown_shape', `${search.source} returned something that could not be stored`);
    const retryAt = new Date(now + waitAfter(fault.kind, search.failures + 1, undefined, Math.random()));
    const failed = failedCheck(search, watch, fault, retryAt, new Date(now));
    return { ...encoded([failed], maxBytes), fault, retryAt };
  }
}

function encoded(parts: Check[], maxBytes: number): CheckMessages {
  const messages = parts.map((part) => ({
    data: toBinary(CheckSchema, part),
    msgId: `${part.checkId}:${part.part}`,
  }));
  const largest = Math.max(...messages.map(({ data }) => data.length));
  if (largest > maxBytes)
    throw new UpstreamError(
      'too_large',
      `one piece of the result has ${largest} bytes, and the message server accepts ${maxBytes}`,
    );
  return { parts, messages };
}
