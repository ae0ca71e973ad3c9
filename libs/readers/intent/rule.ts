import type { Intent } from '#contracts';

/** A phrase that shows an intent. */
export interface IntentRule {
  intent: Intent;
  pattern: RegExp;
  /** A text in which this matches too does not show the intent. */
  unless?: RegExp;
}

/** A few words between two parts of a phrase. */
export const FEW = "(?:[\\p{L}\\p{N}'§@#.+-]{1,24} ){0,4}?";
/** At most two words. */
export const TWO = "(?:[\\p{L}\\p{N}'§@#.+-]{1,24} ){0,2}?";
/** An article or pronoun before the subject, and an adjective after it. */
export const ARTICLE =
  '(?:(?:a|an|the|my|our|your|their|his|her|this|that|these|those|some|any|one of the|one of those|new|another) ){0,3}';

/** One rule from phrases that mean the same. Each phrase is part of a regular expression over lower-case text. */
export function rule(intent: Intent, phrases: readonly string[], unless?: readonly string[]): IntentRule {
  return {
    intent,
    pattern: anyOf(phrases),
    ...(unless && { unless: anyOf(unless) }),
  };
}

/** Matches one of the phrases as whole words: a match neither begins nor ends inside a word. */
export function anyOf(phrases: readonly string[]): RegExp {
  const ends = '(?:(?<=[^\\p{L}\\p{N}_])|(?![\\p{L}\\p{N}_]))';
  return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${phrases.join('|')})${ends}`, 'u');
}
