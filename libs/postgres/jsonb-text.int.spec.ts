import fc from 'fast-check';
import { openSpecDatabase, type SpecDatabase } from '#testing';
import { jsonbText } from './jsonb-text.js';

let spec: SpecDatabase;
beforeAll(async () => (spec = await openSpecDatabase()));
afterAll(() => spec?.drop());

async function stored(value: unknown): Promise<unknown> {
  const [row] = await spec.database.query<{ value: unknown }[]>('SELECT $1::jsonb AS value', [
    jsonbText(value),
  ]);
  return row?.value;
}

it('a text comes back from jsonb as it was, without U+0000 and with U+FFFD for each lone surrogate', async () => {
  const unit = fc.oneof(
    fc.constantFrom('\0', '\\', '\\u0000', '\ud83d', '\ude00', '"', 'u0000', '\u2028'),
    fc.string({ unit: 'binary', maxLength: 3 }),
  );
  const texts = fc.array(unit, { maxLength: 6 }).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(fc.array(texts, { maxLength: 5 }), async (values) => {
      const expected = values.map((text) => text.replaceAll('\0', '').toWellFormed());
      expect(await stored({ values })).toEqual({ values: expected });
    }),
  );
});

it('numbers, booleans, null and dates come back as JSON.stringify writes them', async () => {
  const value = { n: 1.5, yes: true, none: null, at: new Date(0), list: [{ a: [] }] };
  expect(await stored(value)).toEqual(JSON.parse(JSON.stringify(value)));
});
