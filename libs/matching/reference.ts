/**
 * A second implementation of the rules of docs/matching.md. It is short and slow: it uses regular expressions on whole
 * strings. The specs compare the results of the real implementation with it. It does not detect addresses.
 */

const UNSPACED =
  '\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Thai}\\p{scx=Khmer}\\p{scx=Lao}\\p{scx=Myanmar}';
const LETTER = `[[\\p{L}\\p{Nd}\\p{Nl}]--[${UNSPACED}\\p{Script=Hangul}]]`;
const TAIL = '[\\p{M}\\u{1F3FB}-\\u{1F3FF}]*';
const WORD = `${LETTER}${TAIL}`;
const JOINT = `\\p{Pc}+|(?<=\\p{Nd}${TAIL})[.,](?=\\p{Nd})|(?<=[\\p{L}\\p{Nl}]${TAIL})[·](?=[\\p{L}\\p{Nl}])`;
const EMOJI = `(?:\\p{Extended_Pictographic}${TAIL}(?:\\u200D\\p{Extended_Pictographic}${TAIL})*)`;
const TOKEN = new RegExp(
  `${WORD}(?:(?:${JOINT})?${WORD})*|(?:[\\p{Script=Hangul}&&\\p{L}]${TAIL})+|\\p{RI}{1,2}${TAIL}|${EMOJI}|\\s|.${TAIL}`,
  'gsv',
);

/** Folds a whole string in one step. */
export function referenceFold(text: string): string {
  let plain = '';
  const points = [...text.replace(/\p{Surrogate}/gu, '\ufffd')].filter(
    (point) => point === '\u200d' || !/[\p{DI}ـ]/u.test(point),
  );
  points.forEach((point, i) => {
    const joinsEmoji =
      /\p{Extended_Pictographic}\p{Emoji_Modifier}?$/u.test(plain) &&
      /\p{Extended_Pictographic}/u.test(points[i + 1] ?? '');
    if (point !== '\u200d' || joinsEmoji) plain += point;
  });
  return plain
    .normalize('NFD')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replace(/i\u0307/g, 'i')
    .normalize('NFC')
    .replace(/[’‘ʼ]/g, "'")
    .replace(/[\p{Pd}−]/gu, '-')
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(/[\s\p{Cc}]+/gu, ' ');
}

/** Returns the positions of a substring in folded text. If positions overlap, only the first is returned. */
export function referenceContains(text: string, term: string): [number, number][] {
  const positions: [number, number][] = [];
  for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + 1)) {
    const end = at + term.length;
    if (/^(?=\p{Script=Inherited})\p{M}/u.test(text.slice(end))) continue;
    if (positions.length === 0 || at >= positions.at(-1)![1]) positions.push([at, end]);
  }
  return positions;
}

/** Returns the positions of a term as whole words in folded text. If positions overlap, only the first is returned. */
export function referenceWords(text: string, term: string): [number, number][] {
  const bounds = new Set([0, text.length]);
  for (const token of text.matchAll(TOKEN)) bounds.add(token.index);
  const separated = term.replace(/(?<=[^\s\-・])[\s\-・]+(?![\s\-・\p{M}]|$)/gu, '\u0000');
  const positions: [number, number][] = [];
  for (const start of [...bounds].sort((a, b) => a - b)) {
    const end = endAt(text, start, separated.split('\u0000'));
    if (end === undefined || !bounds.has(end)) continue;
    if (/^[.#@$]/.test(term) && followsWordCharacter(text, start)) continue;
    if (positions.length === 0 || start >= positions.at(-1)![1]) positions.push([start, end]);
  }
  return positions;
}

function followsWordCharacter(text: string, start: number): boolean {
  return new RegExp(`(?:${WORD}|\\p{Script=Hangul}${TAIL})$`, 'v').test(text.slice(0, start));
}

function endAt(text: string, start: number, segments: readonly string[]): number | undefined {
  let at = start;
  for (const [i, segment] of segments.entries()) {
    if (i > 0) {
      const gap = /^[\s\-・]+(?!\p{M})/u.exec(text.slice(at));
      if (!gap) return undefined;
      at += gap[0].length;
    }
    if (!text.startsWith(segment, at)) return undefined;
    at += segment.length;
  }
  return at;
}
