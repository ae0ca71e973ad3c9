import fc from 'fast-check';
import { Folder } from '../fold.js';

// Only for specs: texts and terms for property tests.

// Pieces that are difficult next to each other: marks, ligatures, scripts without spaces, emoji, joiners, broken
// surrogates.
export const PIECES = [
  ...[
    'acme',
    'Acme',
    'ACME',
    'a',
    's',
    'i',
    'I',
    'é',
    'e\u0301',
    'e',
    '\u0301',
    'x\u030c',
    'ß',
    'SS',
    'ﬁ',
    'fi',
    'İ',
    'ı',
  ],
  ...[
    'i\u0307',
    'Σ',
    'ς',
    'σ',
    'ǰ',
    'Ⅷ',
    '東',
    '京',
    'ア',
    'ク',
    'か\u3099',
    'が',
    'ー',
    'ก',
    'ิ',
    'า',
    '삼',
    '성',
    '\u1100\u1161',
  ],
  ...[
    '\u11a8',
    '👍',
    '🏽',
    '👩',
    '\u200d',
    '💻',
    '🇩',
    '🇪',
    '❤',
    '\ufe0f',
    '\u20e3',
    '3',
    '14',
    '٣',
    '_',
    '.',
    ',',
    '·',
    '-',
    '–',
  ],
  ...[
    ' ',
    ' ',
    '\n',
    '\u00a0',
    '\u3000',
    "'",
    '’',
    '#',
    '@',
    '$',
    '+',
    '*',
    '(',
    '[',
    '\\',
    '\u200b',
    '\u00ad',
    'ـ',
    'م',
    'ُ',
  ],
  ...['ＡＢ', '\ud83d', '\udc4d', '𐐀', '𐐨', '𝟏', '・', '²', 'र', 'ा', '्'],
];
/** Generates texts of up to 24 of these pieces. */
export const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 24 }).map((pieces) => pieces.join(''));
/** Generates terms of one to four of these pieces. */
export const term = fc
  .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 4 })
  .map((pieces) => pieces.join(''));
/** The parameters of a property test with 1000 runs. */
export const runs = { numRuns: 1000 };

/** Returns the folded text, with the position of each unit in the original. */
export function unitsOf(value: string): { folded: string; starts: number[]; ends: number[] } {
  const { units, length, starts, ends } = new Folder().fold(value);
  return {
    folded: String.fromCharCode(...units.subarray(0, length)),
    starts: [...starts.subarray(0, length)],
    ends: [...ends.subarray(0, length)],
  };
}
