import { lowered } from './clean.js';

/** The character that replaces the names of the subject in a marked text. */
export const SUBJECT = '§';

/** The place of a name of the subject in a text. */
export interface Place {
  start: number;
  end: number;
}

/** Maximum number of names of a subject that are searched for. */
export const MAX_NAMES = 60;
const MAX_PLACES = 50;
const LETTER_OR_DIGIT = /[\p{L}\p{N}_]/u;
/** Scripts without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/**
 * Returns the names in the form that `placesOf` looks for: lower case, without #, @ and $ at the start, without quotes
 * around them, longest first.
 */
export function searchableNames(names: readonly string[]): string[] {
  const wanted = new Set<string>();
  for (const name of names.slice(0, MAX_NAMES)) {
    const plain = lowered(name.normalize('NFKC').slice(0, 200))
      .replace(/^["'#@$\s]+|["'\s]+$/g, '')
      .replace(/\s+/g, ' ');
    if (plain === '' || plain === SUBJECT) continue;
    wanted.add(plain);
    // Hashtags contain names without spaces.
    if (plain.includes(' ') && plain.length > 5) wanted.add(plain.replaceAll(' ', ''));
  }
  return [...wanted].sort((a, b) => b.length - a.length);
}

/** Returns the places of the names as whole words, in order, without overlaps. The text is in lower case. */
export function placesOf(lower: string, names: readonly string[]): Place[] {
  const places: Place[] = [];
  for (const name of names)
    for (
      let at = lower.indexOf(name);
      at >= 0 && places.length < MAX_PLACES;
      at = lower.indexOf(name, at + name.length)
    ) {
      const place = { start: at, end: at + name.length };
      if (isWhole(lower, place) && !places.some(({ start, end }) => start < place.end && place.start < end))
        places.push(place);
    }
  return places.sort((a, b) => a.start - b.start);
}

/** Returns the lower-case text with § for each name of the subject. */
export function markedText(lower: string, places: readonly Place[]): string {
  const clean = lower.includes(SUBJECT) ? lower.replaceAll(SUBJECT, ' ') : lower;
  let marked = '';
  let from = 0;
  for (const { start, end } of places) {
    marked += clean.slice(from, start) + SUBJECT;
    from = end;
  }
  return marked + clean.slice(from);
}

function isWhole(text: string, { start, end }: Place): boolean {
  return isEdge(text[start - 1], text[start]) && isEdge(text[end], text[end - 1]);
}

function isEdge(outside: string | undefined, inside: string | undefined): boolean {
  if (outside === undefined || !LETTER_OR_DIGIT.test(outside)) return true;
  return !LETTER_OR_DIGIT.test(inside ?? '') || UNSPACED.test(inside ?? '') || UNSPACED.test(outside);
}
