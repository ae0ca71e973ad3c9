import { lowered, normalised } from '../text/clean.js';
import { FIELDS } from './fields.js';

/** Words from the user's description of what the subject is, and of what it is not. */
export interface About {
  wanted: ReadonlySet<string>;
  unwanted: ReadonlySet<string>;
}

const MAX_ABOUT_CHARACTERS = 2_000;
/**
 * Words that begin an excluding part of a description. Such a part ends with the sentence or at one of
 * `INCLUDES`.
 */
const EXCLUDES =
  /\b(?:not|no|never|don't|do not|ignore|ignores?|ignoring|exclude|excluding|excludes?|except|without|skip|skipping|drop|avoid|omit|irrelevant|unrelated|unlike|rather than|instead of|other than|leave out|filter out|discard|reject|nothing)\b/u;
const INCLUDES =
  /\b(?:but (?:keep|include|not|do)|but only|only|keep|include|relevant|is about|are about|we are|i mean|we mean)\b/u;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}'-]*/gu;
const EMPTY_WORDS = new Set(
  `the a an and or of to in on for with about is are was were be it its this that these those any all only posts post mentions mention items item
  when where which who what as by from at our my your their we i you they not no never ignore exclude excluding except without skip other than
  company brand name called keep include relevant irrelevant if mean means meant talk talks talking people named word text says say interested want
  looking should must also just etc like such things thing do does don't unrelated anything something nothing leave out but than rather`.split(
    /\s+/,
  ),
);

/** Reads the user's description. Returns undefined if it contains no usable words. */
export function readAbout(about: string | undefined): About | undefined {
  const text = lowered(normalised(about ?? '', MAX_ABOUT_CHARACTERS));
  const wanted = new Set<string>();
  const unwanted = new Set<string>();
  for (const sentence of text.split(/[.!?;\n]+\s*|\s[—–-]\s/u))
    for (const part of partsOf(sentence)) addWords(part.text, part.excluded ? unwanted : wanted);
  for (const word of wanted) unwanted.delete(word);
  expand(wanted, unwanted);
  return wanted.size + unwanted.size === 0 ? undefined : { wanted, unwanted };
}

/** Splits a sentence where an excluding part begins or ends. */
function partsOf(sentence: string): { text: string; excluded: boolean }[] {
  const parts: { text: string; excluded: boolean }[] = [];
  let rest = sentence;
  let excluded = false;
  while (rest !== '' && parts.length < 20) {
    const border = (excluded ? INCLUDES : EXCLUDES).exec(rest);
    if (!border) break;
    parts.push({ text: rest.slice(0, border.index), excluded });
    rest = rest.slice(border.index + border[0].length);
    excluded = !excluded;
  }
  parts.push({ text: rest, excluded });
  return parts;
}

function addWords(text: string, to: Set<string>): void {
  for (const [word] of text.matchAll(WORD)) {
    if (word.length < 2 || EMPTY_WORDS.has(word)) continue;
    to.add(word);
    // Adds the singular of a plural, because texts are compared with both forms.
    if (word.length > 4 && word.endsWith('s')) to.add(word.slice(0, -1));
  }
}

/**
 * If a word names a field (see `FIELDS`), adds all words of this field: "the fruit" also means juice and orchards. Adds
 * nothing if wanted and unwanted words name the same field.
 */
function expand(wanted: Set<string>, unwanted: Set<string>): void {
  const [named, excluded] = [new Set(wanted), new Set(unwanted)];
  for (const { words, label, thing } of FIELDS) {
    const names = new Set(`${label} ${thing}`.split(' ').concat([...words].slice(0, 8)));
    const isWanted = [...named].some((word) => names.has(word));
    const isUnwanted = [...excluded].some((word) => names.has(word));
    if (isWanted === isUnwanted) continue;
    for (const word of words)
      if (!named.has(word) && !excluded.has(word)) (isWanted ? wanted : unwanted).add(word);
  }
}
