import type { Attempt } from '#contracts';

/** The fields of one attempt, without the fields for a disabled endpoint and for a group of attempts. */
export type WrittenAttempt = Omit<Attempt, '$typeName' | '$unknown' | 'endpointDisabled' | 'attempts'>;

/** A text of this many UTF-16 units has at most 127 bytes in UTF-8, so its length takes one byte. */
const SHORT = 42;
/** Maximum number of bytes for the tags and lengths of all fields, and for the numbers. */
const BESIDE_TEXTS = 256;
/** Maximum size of the tag and length of one attempt in a group, in bytes. */
const GROUPED_HEAD = 7;

let scratch = Buffer.allocUnsafe(16 * 1024);
let group = Buffer.allocUnsafe(64 * 1024);

/**
 * Returns the bytes of one `Attempt`. For several attempts, this is an `Attempt` that contains them as a group. The
 * generated writer returns the same bytes, but takes ten times as long, and this function runs for each delivery.
 */
export function writeAttempts(attempts: readonly WrittenAttempt[]): Buffer {
  const [only] = attempts;
  if (only && attempts.length === 1) {
    // `write` is called before `scratch` is read, because `write` can replace `scratch`.
    const length = write(only);
    return Buffer.from(scratch.subarray(0, length));
  }
  let at = 0;
  for (const attempt of attempts) {
    const length = write(attempt);
    if (at + GROUPED_HEAD + length > group.length) {
      group = Buffer.concat([group.subarray(0, at)], 2 * (group.length + GROUPED_HEAD + length));
    }
    group[at] = 0x9a;
    group[at + 1] = 0x01;
    at = varint(length, at + 2, group);
    at += scratch.copy(group, at, 0, length);
  }
  return Buffer.from(group.subarray(0, at));
}

/** Writes an attempt to the beginning of `scratch`. @returns the number of bytes */
function write(attempt: WrittenAttempt): number {
  const max = BESIDE_TEXTS + 3 * textLength(attempt);
  if (max > scratch.length) scratch = Buffer.allocUnsafe(max);
  let at = text(0x0a, attempt.attemptId, 0);
  at = text(0x12, attempt.accountId, at);
  at = text(0x1a, attempt.watchId, at);
  at = text(0x22, attempt.keywordId, at);
  at = text(0x2a, attempt.source, at);
  at = text(0x32, attempt.eventId, at);
  at = text(0x3a, attempt.endpoint, at);
  at = int32(0x40, attempt.number, at);
  at = text(0x4a, attempt.at, at);
  at = int32(0x50, attempt.durationMs, at);
  at = int32(0x58, attempt.statusCode, at);
  at = int32(0x60, Number(attempt.delivered), at);
  at = text(0x6a, attempt.message, at);
  at = text(0x72, attempt.nextAttemptAt, at);
  at = text(0x7a, attempt.targetKind, at);
  at = farText(0x82, attempt.targetId, at);
  at = farText(0x8a, attempt.firstAt, at);
  at = farText(0xa2, attempt.channelId, at);
  return farText(0xaa, attempt.channelKind, at);
}

function textLength(attempt: WrittenAttempt): number {
  return (
    attempt.attemptId.length +
    attempt.accountId.length +
    attempt.watchId.length +
    attempt.keywordId.length +
    attempt.source.length +
    attempt.eventId.length +
    attempt.endpoint.length +
    attempt.at.length +
    attempt.message.length +
    attempt.nextAttemptAt.length +
    attempt.targetKind.length +
    attempt.targetId.length +
    attempt.firstAt.length +
    attempt.channelId.length +
    attempt.channelKind.length
  );
}

/** Writes a text field if the text is not empty. @returns the position of the next field */
function text(tag: number, value: string, at: number): number {
  if (value === '') return at;
  scratch[at] = tag;
  return textBody(value, at + 1);
}

/** Does the same as `text` for the fields with a number of 16 or more, whose tag takes two bytes. */
function farText(tag: number, value: string, at: number): number {
  if (value === '') return at;
  scratch[at] = tag;
  scratch[at + 1] = 0x01;
  return textBody(value, at + 2);
}

function textBody(value: string, at: number): number {
  if (value.length <= SHORT) {
    const length = scratch.write(value, at + 1);
    scratch[at] = length;
    return at + 1 + length;
  }
  const start = varint(Buffer.byteLength(value), at);
  return start + scratch.write(value, start);
}

function int32(tag: number, value: number, at: number): number {
  if (value === 0) return at;
  scratch[at] = tag;
  if (value > 0) return varint(value, at + 1);
  // A negative number is written with 64 bits. The upper bits repeat the sign.
  let rest = value;
  for (let n = 1; n < 10; n += 1) {
    scratch[at + n] = (rest & 0x7f) | 0x80;
    rest >>= 7;
  }
  scratch[at + 10] = 1;
  return at + 11;
}

function varint(value: number, at: number, into: Buffer = scratch): number {
  let next = at;
  for (let rest = value; ; rest >>>= 7) {
    const isLast = rest < 0x80;
    into[next] = isLast ? rest : (rest & 0x7f) | 0x80;
    next += 1;
    if (isLast) return next;
  }
}
