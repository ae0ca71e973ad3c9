import { eld } from 'eld/extrasmall';
import { normalised } from './text/clean.js';

/** With fewer letters, no language is recognised. */
const LEAST_LETTERS = 12;
/** From this number of letters the detected language is sure enough to contradict the source. */
const SURE_LETTERS = 60;
/** Detection reads at most this much. */
const READ_CHARACTERS = 600;

/** Links, addresses, names, hashtags and words with digits say nothing about the language. */
const NO_LANGUAGE =
  /\b(?:https?:\/\/|www\.)\S+|[@#][\p{L}\p{N}_.@-]+|[\p{L}\p{N}_]*\p{N}[\p{L}\p{N}_]*|&\p{L}+;/gu;
const LETTER = /\p{L}/gu;

/** Scripts that are written by few languages. A declared language outside of them is wrong. */
const SCRIPTS: readonly { script: RegExp; languages: ReadonlySet<string> }[] = [
  { script: /\p{Script=Hiragana}|\p{Script=Katakana}/gu, languages: new Set(['ja']) },
  { script: /\p{Script=Hangul}/gu, languages: new Set(['ko']) },
  { script: /\p{Script=Han}/gu, languages: new Set(['zh', 'ja', 'ko', 'yue']) },
  { script: /\p{Script=Arabic}/gu, languages: new Set(['ar', 'fa', 'ur', 'ps', 'ckb', 'sd', 'ug']) },
  {
    script: /\p{Script=Cyrillic}/gu,
    languages: new Set(['ru', 'uk', 'bg', 'sr', 'mk', 'be', 'kk', 'mn', 'ky', 'tg']),
  },
  { script: /\p{Script=Greek}/gu, languages: new Set(['el']) },
  { script: /\p{Script=Hebrew}/gu, languages: new Set(['he', 'yi', 'iw']) },
  { script: /\p{Script=Thai}/gu, languages: new Set(['th']) },
  { script: /\p{Script=Devanagari}/gu, languages: new Set(['hi', 'mr', 'ne', 'sa', 'mai', 'bho']) },
];

/**
 * The language of a text as BCP 47 short code, after links and names are taken out. What the source declares is
 * preferred, unless the script or a long text contradicts it.
 * @param declared BCP 47 as the source declares it ("en-GB")
 * @returns undefined if it was not recognised
 */
export function languageOf(text: string, declared?: string): string | undefined {
  const words = normalised(text, READ_CHARACTERS * 2)
    .replace(NO_LANGUAGE, ' ')
    .slice(0, READ_CHARACTERS);
  const letters = words.match(LETTER)?.length ?? 0;
  const said = shortCode(declared);
  const few = scriptOf(words, letters);
  if (said !== undefined && few !== undefined && !few.has(said)) return detected(words, letters) ?? only(few);
  if (said !== undefined) return contradicted(words, letters, said) ?? said;
  if (few?.size === 1 && letters > 1) return only(few);
  // A Chinese character is worth a word.
  if (few?.has('zh') === true && letters >= LEAST_LETTERS / 3) return detected(words, LEAST_LETTERS) ?? 'zh';
  return detected(words, letters);
}

/** `en` of `en-GB`; undefined for what is not a code or says that nothing is known. */
function shortCode(declared: string | undefined): string | undefined {
  const code = /^([a-z]{2,3})(?:[-_]|$)/i.exec(declared?.trim() ?? '')?.[1]?.toLowerCase();
  if (
    code === undefined ||
    ['und', 'zxx', 'mul', 'mis', 'qme', 'qam', 'qht', 'qct', 'qst', 'art'].includes(code)
  )
    return undefined;
  return OLD_CODES.get(code) ?? code;
}

const OLD_CODES = new Map([
  ['iw', 'he'],
  ['in', 'id'],
  ['ji', 'yi'],
  ['tl', 'tl'],
  ['nb', 'no'],
  ['eng', 'en'],
  ['fil', 'tl'],
]);

/** The languages of the script of most letters, if few languages use it. */
function scriptOf(words: string, letters: number): ReadonlySet<string> | undefined {
  if (letters === 0) return undefined;
  for (const { script, languages } of SCRIPTS) {
    const found = words.match(script)?.length ?? 0;
    // Japanese text is half Han characters.
    if (found * (languages.has('ja') ? 4 : 2) > letters) return languages;
  }
  return undefined;
}

function only(languages: ReadonlySet<string>): string | undefined {
  return languages.size === 1 ? [...languages][0] : undefined;
}

function detected(words: string, letters: number): string | undefined {
  if (letters < LEAST_LETTERS) return undefined;
  return eld.detect(words).language || undefined;
}

/** Another language than the declared one, if the text is long and clearly in it. */
function contradicted(words: string, letters: number, said: string): string | undefined {
  if (letters < SURE_LETTERS) return undefined;
  const result = eld.detect(words);
  if (result.language === '' || result.language === said || !result.isReliable()) return undefined;
  const scores = result.getScores();
  const best = scores[result.language] ?? 0;
  // A language that the detector does not know cannot be compared with.
  const other = Object.hasOwn(scores, said) ? (scores[said] ?? 0) : KNOWN.has(said) ? 0 : best;
  return best - other > 0.1 ? result.language : undefined;
}

const KNOWN = new Set(Object.values(eld.info().Languages));
