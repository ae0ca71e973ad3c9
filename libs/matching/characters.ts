/**
 * The kinds of code points. `space` to `hangul` occur in folded text (see `fold.ts`); the others only during folding.
 * The order matters: adjacent characters of the same kind form one word if this kind is `word` or a later one.
 */
export const Kind = {
  unknown: 0,
  space: 1,
  dash: 2,
  other: 3,
  /** A letter of a script that is written without spaces. A word can begin before, and end after, each such letter. */
  unspaced: 4,
  /** Belongs to the preceding character: a mark, the tail of an emoji, the second half of a surrogate pair. */
  extend: 5,
  word: 6,
  hangul: 7,
  digit: 8,
  connector: 9,
  midLetter: 10,
  midNumber: 11,
  regional: 12,
  mark: 13,
  ignored: 14,
  emojiJoiner: 15,
  emojiModifier: 16,
  surrogate: 17,
} as const;

const ZERO_WIDTH_JOINER = 0x200d;
// Makes an Arabic word longer without being a letter of the word.
const TATWEEL = 0x0640;
// Hebrew geresh: punctuation by category, but a letter in UAX #29.
const GERESH = 0x05f3;
// Catalan middle dot, hyphenation point, Hebrew gershayim: the characters of MidLetter (UAX #29) that occur in names.
const MID_LETTERS = new Set([0x00b7, 0x2027, 0x05f4]);
// The separator between words of a foreign name in Japanese, and the minus sign, which people type as a hyphen.
const DASH_LIKE = new Set([0x30fb, 0xff65, 0x2212]);

const UNSPACED =
  /^[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Bopomofo}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}\p{scx=Yi}\p{scx=Tai_Le}\p{scx=New_Tai_Lue}\p{scx=Tai_Tham}\p{scx=Tai_Viet}\p{scx=Javanese}\p{scx=Balinese}\p{scx=Tangut}\p{scx=Nushu}]$/u;
const DIACRITIC = /^(?=\p{Script=Inherited})\p{M}$/u;
const PICTOGRAPH = /^\p{Extended_Pictographic}$/u;

// A cache of 64 KiB, filled on first use: reading a property by regular expression takes a hundred times as long as a
// lookup.
const basicPlane = new Uint8Array(0x10000);
const otherPlanes = new Map<number, number>();

/** Returns the kind of a code point; `Kind.surrogate` for one code unit of a surrogate pair. */
export function kindOf(codePoint: number): number {
  if (codePoint <= 0xffff) {
    const known = basicPlane[codePoint]!;
    return known !== 0 ? known : (basicPlane[codePoint] = classify(codePoint));
  }
  let kind = otherPlanes.get(codePoint);
  if (kind === undefined) {
    kind = classify(codePoint);
    otherPlanes.set(codePoint, kind);
  }
  return kind;
}

/**
 * Returns true for a general diacritic (acute, dot below, keycap, …): it changes the preceding character into another
 * character.
 */
export function isDiacritic(codePoint: number): boolean {
  return kindOf(codePoint) === Kind.mark && DIACRITIC.test(String.fromCodePoint(codePoint));
}

/** Returns true for an emoji that a zero-width joiner can join with another emoji. */
export function isPictograph(codePoint: number): boolean {
  return codePoint > 0xa8 && PICTOGRAPH.test(String.fromCodePoint(codePoint));
}

/** Returns true for conjoining vowels and final consonants, which form one Hangul syllable with the preceding jamo. */
export function isTrailingJamo(codePoint: number): boolean {
  return codePoint >= 0x1161 && codePoint <= 0x11c2;
}

/** Returns true for the invisible characters that select a variant of a character, such as U+FE0F after ❤. */
export function isVariationSelector(codePoint: number): boolean {
  return (codePoint >= 0xfe00 && codePoint <= 0xfe0f) || (codePoint >= 0xe0100 && codePoint <= 0xe01ef);
}

/** Returns true for a jamo or a syllable, to which a trailing jamo can attach. */
export function isHangulBase(codePoint: number): boolean {
  return (codePoint >= 0x1100 && codePoint <= 0x11ff) || (codePoint >= 0xac00 && codePoint <= 0xd7a3);
}

function classify(codePoint: number): number {
  if (codePoint >= 0xd800 && codePoint <= 0xdfff) return Kind.surrogate;
  if (codePoint === ZERO_WIDTH_JOINER) return Kind.emojiJoiner;
  if (codePoint === GERESH) return Kind.word;
  if (MID_LETTERS.has(codePoint)) return Kind.midLetter;
  if (DASH_LIKE.has(codePoint)) return Kind.dash;
  if (codePoint === 0x2e || codePoint === 0x2c) return Kind.midNumber;
  if (codePoint >= 0x1f3fb && codePoint <= 0x1f3ff) return Kind.emojiModifier;
  if (codePoint >= 0x1f1e6 && codePoint <= 0x1f1ff) return Kind.regional;
  const char = String.fromCodePoint(codePoint);
  if (codePoint === TATWEEL || /\p{Default_Ignorable_Code_Point}/u.test(char)) return Kind.ignored;
  if (/[\p{White_Space}\p{Cc}]/u.test(char)) return Kind.space;
  if (/\p{M}/u.test(char)) return Kind.mark;
  if (/\p{Pd}/u.test(char)) return Kind.dash;
  if (/\p{Pc}/u.test(char)) return Kind.connector;
  if (/[\p{L}\p{Nd}\p{Nl}]/u.test(char)) return classifyLetter(char);
  return Kind.other;
}

function classifyLetter(char: string): number {
  if (/\p{Script=Hangul}/u.test(char)) return Kind.hangul;
  if (UNSPACED.test(char)) return Kind.unspaced;
  return /\p{Nd}/u.test(char) ? Kind.digit : Kind.word;
}
