import { lowerCase, withoutDots } from './lower-case.js';

/** A text that is searched for brands. */
export interface BrandText {
  title: string;
  text: string;
  /** Names of the subject, which do not count as other brands. */
  names: readonly string[];
  /** Brands that the user has listed, for example `filters.brands` of ai_answers. */
  listed: readonly string[];
}

const CHARACTERS_READ = 20_000;
const MAX_BRANDS = 20;

/**
 * A name: one to three whole words with a capital letter, such as `Globex`, `Ben & Jerry's`, `iPhone`, `Acme Cloud`. A
 * word has at most 25 characters, or 26 if it begins with a small letter.
 */
const NAME = String.raw`(?<![\p{L}\p{N}])(?:\p{Lu}(?:[\p{L}\p{N}'’-]|\.(?=\p{Ll})){1,24}|\p{Ll}\p{Lu}[\p{L}\p{N}]{1,24})(?:(?: & | )\p{Lu}[\p{L}\p{N}'’-]{1,24}){0,2}(?![\p{L}\p{N}])`;
/** Words between two names that compare or join them. */
const LINK = String.raw`(?:,? (?:vs\.?|versus|or|and|than|over|instead of|compared (?:to|with)|alternatives? to|unlike|from|to)|,|/)`;
const AFTER = new RegExp(String.raw`^\s?${LINK} (${NAME})`, 'u');
const BEFORE = new RegExp(String.raw`(${NAME})\s?${LINK} $`, 'u');
/** An entry of a list in the form that AI engines use: `1. **Globex**: …`, `- Globex – …`. */
const ENTRY = new RegExp(
  String.raw`^[ \t]*(?:\d{1,2}[.)]|[-*•])[ \t]+\*{0,2}(${NAME})\*{0,2}[ \t]*(?:[:–—(]|-[ \t]|$)`,
  'gmu',
);
/** Words that often begin a sentence or an entry of a list, and are no brands. */
const NOT_BRANDS = new Set(
  (
    'the a an i it we you they this that these those my our your his her their he she what which who when where why how if ' +
    'but and or so as at by for from in of on to with yes no not just also still even best great good new free pros cons price ' +
    'pricing features note summary overall monday tuesday wednesday thursday friday saturday sunday january february march ' +
    'april may june july august september october november december english german french spanish'
  ).split(' '),
);

/**
 * Returns at most 20 brands that a text names, without the subject. These are listed brands anywhere in the text, in the
 * spelling of the list; names that the text compares or joins with the subject; and the entries of lists. The other
 * brands have the spelling that was found first.
 */
export function coBrandsOf({ title, text, names, listed }: BrandText): string[] {
  const input = withoutDots(`${title}\n${text}`.slice(0, CHARACTERS_READ));
  const found = new Map<string, string>();
  const own = new Set(names.map(folded));
  const add = (name: string) => {
    const brand = withoutOpening(name.replace(/['’.,-]+$/u, '').replace(/['’]s$/u, ''));
    const key = folded(brand);
    const isOwn = [...own].some((one) => one !== '' && (key === one || key.startsWith(`${one} `)));
    if (key.length > 1 && !isOwn && !NOT_BRANDS.has(key) && !found.has(key)) found.set(key, brand);
  };
  // The positions from which the search was already continued. Without them, a list that repeats the subject would be
  // read to its end for each repetition.
  const ends = new Set<number>();
  for (const brand of listed) if (positionsOf(input, brand).length > 0) add(brand);
  for (const name of names)
    for (const at of positionsOf(input, name)) {
      const before = BEFORE.exec(input.slice(Math.max(0, at - 80), at))?.[1];
      if (before !== undefined) add(before);
      for (let end = at + folded(name).length; !ends.has(end);) {
        ends.add(end);
        const next = AFTER.exec(input.slice(end, end + 120));
        if (!next) break;
        if (next[1] !== undefined) add(next[1]);
        end += next[0].length;
      }
    }
  for (const [, entry] of input.matchAll(ENTRY)) if (entry !== undefined) add(entry);
  return [...found.values()].slice(0, MAX_BRANDS);
}

/** Returns the name without a common first word: `Globex` for `The Globex`. */
function withoutOpening(name: string): string {
  const [first = '', ...rest] = name.split(' ');
  return rest.length > 0 && NOT_BRANDS.has(folded(first)) ? rest.join(' ') : name;
}

function folded(name: string): string {
  return lowerCase(withoutDots(name.trim()));
}

/** Returns the positions at which the name occurs as whole words, in upper or lower case; at most 20. */
function positionsOf(text: string, name: string): number[] {
  const positions: number[] = [];
  const [haystack, needle] = [lowerCase(text), folded(name)];
  if (needle === '') return positions;
  for (
    let at = haystack.indexOf(needle);
    at >= 0 && positions.length < 20;
    at = haystack.indexOf(needle, at + 1)
  ) {
    const [before, after] = [haystack.charAt(at - 1), haystack.charAt(at + needle.length)];
    if (!/[\p{L}\p{N}]/u.test(before) && !/[\p{L}\p{N}]/u.test(after)) positions.push(at);
  }
  return positions;
}
