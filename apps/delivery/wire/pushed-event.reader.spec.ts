import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { EventSchema, PushedEventSchema } from '#contracts';
import { readPushedEvent, type ReadEvent } from './pushed-event.reader.js';

/** Returns the fields that the generated reader reads, as a `ReadEvent`. */
function generated(data: Uint8Array): ReadEvent {
  const { $typeName: _, ...fields } = fromBinary(PushedEventSchema, data, { readUnknownFields: false });
  return fields;
}

const plain = (event: ReadEvent) => ({ ...event, envelope: [...event.envelope] });

type Field = (writer: BinaryWriter) => unknown;

const text = fc.string({ unit: 'grapheme', maxLength: 200 });
const known: fc.Arbitrary<Field> = fc.oneof(
  fc.tuple(fc.constantFrom(1, 2, 3, 4, 6, 7, 33), text).map<Field>(
    ([no, value]) =>
      (writer) =>
        writer.tag(no, WireType.LengthDelimited).string(value),
  ),
  fc
    .uint8Array({ maxLength: 300 })
    .map<Field>((value) => (writer) => writer.tag(9, WireType.LengthDelimited).bytes(value)),
  fc.tuple(fc.constantFrom(10, 32, 34), fc.constantFrom(0n, 1n, 128n, 1n << 40n)).map<Field>(
    ([no, value]) =>
      (writer) =>
        writer.tag(no, WireType.Varint).uint64(value),
  ),
);
const unknownNumber = fc.oneof(
  fc.constantFrom(5, 8),
  fc.integer({ min: 11, max: 31 }),
  fc.integer({ min: 35, max: 2 ** 29 - 1 }),
);
const unknown: fc.Arbitrary<Field> = fc.oneof(
  fc.tuple(unknownNumber, fc.bigInt({ min: 0n, max: (1n << 64n) - 1n })).map<Field>(
    ([no, value]) =>
      (writer) =>
        writer.tag(no, WireType.Varint).uint64(value),
  ),
  unknownNumber.map<Field>((no) => (writer) => writer.tag(no, WireType.Bit64).fixed64(7n)),
  unknownNumber.map<Field>((no) => (writer) => writer.tag(no, WireType.Bit32).fixed32(7)),
  fc.tuple(unknownNumber, fc.uint8Array()).map<Field>(
    ([no, value]) =>
      (writer) =>
        writer.tag(no, WireType.LengthDelimited).bytes(value),
  ),
  fc.tuple(unknownNumber, unknownNumber, text).map<Field>(
    ([no, inner, value]) =>
      (writer) =>
        writer
          .tag(no, WireType.StartGroup)
          .tag(inner, WireType.LengthDelimited)
          .string(value)
          .tag(no, WireType.EndGroup),
  ),
);
/** Generates fields in any order and any number, mixed with fields that delivery does not read. */
const messages = fc.array(fc.oneof(known, unknown), { maxLength: 20 }).map((fields) => {
  const writer = new BinaryWriter();
  for (const write of fields) write(writer);
  return writer.finish();
});

describe('reading the fields of an event that delivery needs', () => {
  it('returns the same as the generated reader for fields in any order, repeated fields and unknown fields', () => {
    fc.assert(
      fc.property(messages, (data) => {
        expect(plain(readPushedEvent(data))).toEqual(plain(generated(data)));
      }),
    );
  });

  it('uses the last of several values of a field that is not a list', () => {
    const data = new BinaryWriter()
      .tag(1, WireType.LengthDelimited)
      .string('first')
      .tag(10, WireType.Varint)
      .bool(true)
      .tag(1, WireType.LengthDelimited)
      .string('last')
      .tag(10, WireType.Varint)
      .bool(false)
      .finish();
    expect(readPushedEvent(data)).toMatchObject({ eventId: 'last', push: false });
  });

  it('rejects truncated bytes wherever the generated reader rejects them', () => {
    fc.assert(
      fc.property(messages, fc.nat(), (data, cut) => {
        const part = data.subarray(0, cut % (data.length + 1));
        expect(attempt(() => plain(readPushedEvent(part)))).toEqual(attempt(() => plain(generated(part))));
      }),
      { numRuns: 500 },
    );
  });

  it('returns an event or throws an Error for arbitrary bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (data) => {
        expect(attempt(() => readPushedEvent(data)) === undefined).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['a string that is not UTF-8', [0x0a, 0x02, 0xc3, 0x28]],
    ['field number 0', [0x02, 0x00]],
    ['a varint of eleven bytes', [0x50, ...Array<number>(10).fill(0xff), 0x01]],
    ['a group that does not end', [0x5b, 0x08, 0x01]],
    ['the end of a group that did not begin', [0x5c]],
    ['a length beyond the end', [0x4a, 0xff, 0xff, 0xff, 0xff, 0x0f]],
  ])('rejects %s, as the generated reader does', (_, bytes) => {
    const data = Uint8Array.from(bytes);
    expect(() => generated(data)).toThrow();
    expect(() => readPushedEvent(data)).toThrow();
  });

  it('reads a whole event as analysis writes it', () => {
    const event = create(EventSchema, {
      eventId: 'e',
      accountId: 'a',
      watchId: 'w',
      keywordId: 'k',
      searchId: 's',
      source: 'rss',
      type: 'post.created',
      occurredAt: 'now',
      envelope: new TextEncoder().encode('{"é":"😀"}'),
      push: true,
      matched: { item: { itemId: 'i', text: 'é' } },
      verdicts: [{ step: 'mute', hit: true }],
      ruleWebhook: true,
      notifyChannelIds: ['c1', 'c2'],
      notifyKeywordChannels: true,
    });
    const { eventId, accountId, watchId, keywordId, source, type, envelope, push } = event;
    const expected = {
      ...{ eventId, accountId, watchId, keywordId, source, type, envelope, push },
      ...{ ruleWebhook: true, notifyChannelIds: ['c1', 'c2'], notifyKeywordChannels: true },
    };
    expect(plain(readPushedEvent(toBinary(EventSchema, event)))).toEqual(plain(expected));
  });
});

/** Returns the result of the read, or `refused` if the read failed. */
function attempt<T>(read: () => T): T | 'refused' {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error) return 'refused';
    throw error;
  }
}
