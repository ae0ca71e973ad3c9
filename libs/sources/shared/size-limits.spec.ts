import fc from 'fast-check';
import { BODY_BYTES, cutJson, cutObservation, cutText } from './size-limits.js';

const FAMILY = '👩‍👩‍👧‍👦';
const text = fc.string({
  unit: fc.constantFrom('a', 'é', '東', FAMILY, 'e\u0301', '\ud83d', '\udc4d', '"', '\u0001'),
});

describe('a text that is cut', () => {
  it('is not longer than the limit, is the beginning of the text, and is well-formed', () => {
    fc.assert(
      fc.property(text, fc.nat(200), (value, max) => {
        const kept = cutText(value, max);
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(max);
        expect(kept.isWellFormed()).toBe(true);
        expect(value.toWellFormed().startsWith(kept)).toBe(true);
      }),
    );
  });

  it('is unchanged if it is not longer than the limit', () => {
    fc.assert(
      fc.property(text, (value) => {
        expect(cutText(value, Buffer.byteLength(value))).toBe(value.toWellFormed());
      }),
    );
  });

  it('does not end inside an emoji or an accented letter that is made of several code points', () => {
    const bytes = Buffer.byteLength(FAMILY);
    expect(cutText(`ab${FAMILY}${FAMILY}`, bytes + 10)).toBe(`ab${FAMILY}`);
    expect(cutText('ae\u0301', 2)).toBe('a');
  });
});

describe('JSON that is cut', () => {
  it('is unchanged if it is small', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 20 }), (value) => {
        const { json, cut } = cutJson(value);
        expect(cut).toBe(false);
        expect(json).toBe(JSON.stringify(value));
      }),
    );
  });

  it('is never longer than the limit', () => {
    const long = fc.nat(300_000).map((length) => '"'.repeat(length));
    const list = fc.array(fc.oneof(long, fc.constant({ a: '\u0001'.repeat(9000) })), { maxLength: 20 });
    const value = fc.record({
      id: long,
      title: long,
      text: long,
      lists: fc.array(list, { maxLength: 4 }),
      wide: fc
        .nat(20_000)
        .map((n) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`key ${i}`, i]))),
      deep: fc.nat(3000).map((n) => JSON.parse('['.repeat(n) + ']'.repeat(n) || '0') as unknown),
    });
    fc.assert(
      fc.property(value, (one) => {
        const { value: kept, json } = cutJson(one);
        expect(Buffer.byteLength(json)).toBeLessThanOrEqual(BODY_BYTES);
        expect(JSON.parse(json)).toEqual(kept);
      }),
      { numRuns: 30 },
    );
  });

  it('reports that a text, a title, a list or deep nesting was cut', () => {
    expect(cutJson({ text: 'x'.repeat(70_000) })).toMatchObject({
      cut: true,
      value: { text: 'x'.repeat(65_536) },
    });
    expect(cutJson({ title: 'x'.repeat(1100) })).toMatchObject({
      cut: true,
      value: { title: 'x'.repeat(1024) },
    });
    expect(cutJson({ tags: Array.from({ length: 101 }, () => 'a') }).cut).toBe(true);
    expect(cutJson({ a: [[[[[[['deep']]]]]]] }).cut).toBe(true);
  });

  it('keeps its nulls if only values without nesting fit', () => {
    const deep = Array.from({ length: 10 }, () =>
      Array.from({ length: 10 }, () => Array(10).fill('x'.repeat(300))),
    );
    expect(cutJson({ author: null, url: 'https://example.org', deep })).toMatchObject({
      cut: true,
      value: { author: null, url: 'https://example.org' },
      json: '{"author":null,"url":"https://example.org"}',
    });
  });

  it('keeps the kind of an observation', () => {
    const text = 'x'.repeat(400_000);
    const answer = { engine: 'openai', text, citations: [{ url: 'https://example.org/', title: text }] };
    const cut = cutObservation({ kind: { case: 'answer', value: answer } });
    expect(cut.kind?.case).toBe('answer');
    expect(JSON.stringify(cut).length).toBeLessThan(BODY_BYTES);
  });
});
