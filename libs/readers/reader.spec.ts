import fc from 'fast-check';
import { INTENTS, SENTIMENTS } from '#contracts';
import { readingOf, requestOf } from './testing/requests.js';

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 })
    .map((codes) => String.fromCharCode(...codes)),
);
const role = fc.constantFrom('own' as const, 'competitor' as const, 'topic' as const);

describe('the reading of an item', () => {
  it('has only known sentiments and intents, and bounded scores, for generated texts and names [readings.values]', () => {
    fc.assert(
      fc.property(
        anyText,
        fc.array(anyText, { maxLength: 4 }),
        role,
        fc.option(anyText),
        (text, names, ofRole, about) => {
          const reading = readingOf(
            requestOf(text, { names, role: ofRole, ...(about !== null && { about }) }),
          );
          expect(SENTIMENTS).toContain(reading.sentiment);
          expect(INTENTS).toContain(reading.intent);
          expect(Math.abs(reading.sentimentScore ?? Number.NaN)).toBeLessThanOrEqual(1);
          expect(reading.relevance).toBeGreaterThanOrEqual(0);
          expect(reading.relevance).toBeLessThanOrEqual(100);
          expect(reading.reason).not.toBe('');
          expect(reading.reason.length + (reading.intentReason?.length ?? 0)).toBeLessThan(1_000);
        },
      ),
      { numRuns: 120 },
    );
  });

  it('is the same each time [readings.values]', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(readingOf(requestOf(text))).toEqual(readingOf(requestOf(text)));
      }),
      { numRuns: 30 },
    );
  });

  it('does not change with invisible characters', () => {
    const words = 'I love Acme, the best tool for our team, but support is slow'.split('');
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('\u200b', '\u200d', '\u2060', '\ufeff', '\u00ad'), { maxLength: 60 }),
        (hidden) => {
          const text = words.map((letter, at) => letter + (hidden[at] ?? '')).join('');
          expect(readingOf(requestOf(text))).toEqual(readingOf(requestOf(words.join(''))));
        },
      ),
      { numRuns: 30 },
    );
  });

  it('depends only on the beginning of a long text', () => {
    const beginning = 'Acme is great. '.repeat(300);
    expect(readingOf(requestOf(`${beginning}I hate Acme.`))).toEqual(readingOf(requestOf(beginning)));
  });

  it('has a short reason even if words are long', () => {
    const word = 'x'.repeat(5_000);
    const reading = readingOf(requestOf(`${word} apple ${word}?`, { names: ['apple', word], about: word }));
    expect(reading.reason.length).toBeLessThan(300);
    expect(reading.intentReason?.length).toBeLessThan(300);
  });

  it('does not treat the title of the thread as words of the author', () => {
    const request = requestOf('Fine, thank you');
    const item = { ...request.item, title: 'I hate Acme, it is awful', titleOfParent: true };
    expect(readingOf({ ...request, item }).sentiment).not.toBe('negative');
  });
});
