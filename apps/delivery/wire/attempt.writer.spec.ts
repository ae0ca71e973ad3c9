import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { AttemptSchema, attemptsIn } from '#contracts';
import { writeAttempts, type WrittenAttempt } from './attempt.writer.js';

const text = fc.oneof(
  fc.constant(''),
  fc.uuid(),
  fc.string({ unit: 'grapheme', maxLength: 80 }),
  fc.constantFrom('é'.repeat(42), 'a'.repeat(43), '😀'.repeat(5000)),
);
const int32 = fc.oneof(fc.constant(0), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }));
const attempts: fc.Arbitrary<WrittenAttempt> = fc.record({
  attemptId: text,
  accountId: text,
  watchId: text,
  keywordId: text,
  source: text,
  eventId: text,
  endpoint: text,
  number: int32,
  at: text,
  durationMs: int32,
  statusCode: int32,
  delivered: fc.boolean(),
  message: text,
  nextAttemptAt: text,
  targetKind: text,
  targetId: text,
  firstAt: text,
  channelId: text,
  channelKind: text,
});

describe('writeAttempts', () => {
  it('writes the same bytes as the generated writer', () => {
    fc.assert(
      fc.property(attempts, (attempt) => {
        const generated = toBinary(AttemptSchema, create(AttemptSchema, attempt));
        expect(Buffer.compare(writeAttempts([attempt]), generated)).toBe(0);
      }),
    );
  });

  it('writes bytes from which the generated reader reads the same attempt', () => {
    fc.assert(
      fc.property(attempts, (attempt) => {
        expect(fromBinary(AttemptSchema, writeAttempts([attempt]))).toEqual(create(AttemptSchema, attempt));
      }),
    );
  });

  it('groups attempts in the same way as the generated writer, and each attempt can be read again', () => {
    fc.assert(
      fc.property(fc.array(attempts, { minLength: 2, maxLength: 5 }), (group) => {
        const written = writeAttempts(group);
        const made = group.map((attempt) => create(AttemptSchema, attempt));
        expect(
          Buffer.compare(written, toBinary(AttemptSchema, create(AttemptSchema, { attempts: made }))),
        ).toBe(0);
        expect(attemptsIn(written)).toEqual(made);
      }),
    );
  });

  it('returns bytes that do not change when the next attempt is written', () => {
    const one = { ...emptyAttempt(), message: 'one' };
    const first = writeAttempts([one]);
    writeAttempts([{ ...emptyAttempt(), message: 'two' }]);
    expect(fromBinary(AttemptSchema, first).message).toBe('one');
  });

  it('writes every field of an attempt, except the fields for a disabled endpoint and for a group', () => {
    const written = Object.keys(emptyAttempt());
    const others = ['endpointDisabled', 'attempts'];
    expect([...written, ...others].sort()).toEqual(
      AttemptSchema.fields.map(({ localName }) => localName).sort(),
    );
  });
});

function emptyAttempt(): WrittenAttempt {
  return {
    attemptId: '',
    accountId: '',
    watchId: '',
    keywordId: '',
    source: '',
    eventId: '',
    endpoint: '',
    number: 0,
    at: '',
    durationMs: 0,
    statusCode: 0,
    delivered: false,
    message: '',
    nextAttemptAt: '',
    targetKind: '',
    targetId: '',
    firstAt: '',
    channelId: '',
    channelKind: '',
  };
}
