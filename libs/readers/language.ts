import { eld } from 'eld/extrasmall';
import { normalised } from './text/clean.js';

/**
 * If a text has fewer letters than this (in the Han script: a third of this), its language is not detected from its
 * words. Its script can still show it.
 */
const MIN_LETTERS = 12;
/** If a text has at least this many letters, a detected language can replace the declared language. */
const SURE_LETTERS = 60;
/** Detection reads at most this many characters. */
const READ_CHARACTERS = 600;

/**
 * Links, @names, hashtags, words with digits and HTML entities. These parts of a text are removed, because they do not
 * depend on the language.
 */
const NO_LANGUAGE =
  /\b(?:https?:\/\/|www\.)\S+|[@#][\p{L}\p{N}_.@-]+|[\p{L}\p{N}_]*\p{N}[\p{L}\p{N}_]*|&\p{L}+;/gu;
const LETTER = /\p{L}/gu;

/**
 * Scripts that few languages use. If the source declares a language that does not use the text's script, the
 * declaration is wrong.
 */
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
 * Returns the language of a text as a BCP 47 short code. The declared language is returned, unless the script of the
 * text or a clear detection in a long text contradicts it. Links and @names are ignored.
 * @param declared the language that the source declares, in BCP 47 ("en-GB")
 * @returns undefined if the language was not recognised
 */
export function languageOf(text: string, declared?: string): string | undefined {
  const words = normalised(text, READ_CHARACTERS * 2)
    .replace(NO_LANGUAGE, ' ')
    .slice(0, READ_CHARACTERS);
  const letters = words.match(LETTER)?.length ?? 0;
  const declaredCode = shortCode(declared);
  const scriptLanguages = scriptOf(words, letters);
  if (declaredCode !== undefined && scriptLanguages !== undefined && !scriptLanguages.has(declaredCode))
    return detected(words, letters) ?? only(scriptLanguages);
  if (declaredCode !== undefined) return contradicted(words, letters, declaredCode) ?? declaredCode;
  if (scriptLanguages?.size === 1 && letters > 1) return only(scriptLanguages);
  // Texts in Chinese need fewer characters, because one character is about a word.
  if (scriptLanguages?.has('zh') === true && letters >= MIN_LETTERS / 3)
    return detected(words, MIN_LETTERS) ?? 'zh';
  return detected(words, letters);
}

/** Returns the short code `en` of `en-GB`; undefined for other texts and for codes of an unknown language. */
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
  ['nb', 'no'],
  ['eng', 'en'],
  ['fil', 'tl'],
]);

/** Returns the languages that use the script of most letters, if only few languages use it. */
function scriptOf(words: string, letters: number): ReadonlySet<string> | undefined {
  if (letters === 0) return undefined;
  for (const { script, languages } of SCRIPTS) {
    const found = words.match(script)?.length ?? 0;
    // About half of the characters of a Japanese text are Han characters. So for the scripts that Japanese uses, more
    // than a quarter of the letters is enough.
    if (found * (languages.has('ja') ? 4 : 2) > letters) return languages;
  }
  return undefined;
}

function only(languages: ReadonlySet<string>): string | undefined {
  return languages.size === 1 ? [...languages][0] : undefined;
}

function detected(words: string, letters: number): string | undefined {
  if (letters < MIN_LETTERS) return undefined;
  return eld.detect(words).language || undefined;
}

/** Returns the detected language, if the text is long and clearly not in the declared language. */
function contradicted(words: string, letters: number, declaredCode: string): string | undefined {
  if (letters < SURE_LETTERS) return undefined;
  const result = eld.detect(words);
  if (result.language === '' || result.language === declaredCode || !result.isReliable()) return undefined;
  const scores = result.getScores();
  const best = scores[result.language] ?? 0;
  // A declared language that the detector does not know is never replaced, because the detector cannot
  // compare it.
  const other = Object.hasOwn(scores, declaredCode)
    ? (scores[declaredCode] ?? 0)
    : KNOWN.has(declaredCode)
      ? 0
      : best;
  return best - other > 0.1 ? result.language : undefined;
}

const KNOWN = new Set(Object.values(eld.info().Languages));
