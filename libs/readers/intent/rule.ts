import type { Intent } from '#contracts';

/** A phrase that shows an intent. */
export interface IntentRule {
  intent: Intent;
  pattern: RegExp;
  /** If this also matches the text, the text does not show the intent. */
  unless?: RegExp;
}

/** Matches at most four words between two parts of a phrase. */
export const FEW = "(?:[\\p{L}\\p{N}'§@#.+-]{1,24} ){0,4}?";
/** Matches at most two words between two parts of a phrase. */
export const TWO = "(?:[\\p{L}\\p{N}'§@#.+-]{1,24} ){0,2}?";
/** Matches at most three articles and pronouns before the subject. */
export const ARTICLE =
  '(?:(?:a|an|the|my|our|your|their|his|her|this|that|these|those|some|any|one of the|one of those|new|another) ){0,3}';

/**
 * Builds one rule from several phrases with the same meaning. Each phrase is part of a regular expression over
 * lower-case text, in which § replaces the names of the subject.
 */
export function rule(intent: Intent, phrases: readonly string[], unless?: readonly string[]): IntentRule {
  return {
    intent,
    pattern: anyOf(phrases),
    ...(unless && { unless: anyOf(unless) }),
  };
}

/** Returns a pattern that matches one of the phrases as whole words: a match neither begins nor ends inside a word. */
export function anyOf(phrases: readonly string[]): RegExp {
  const ends = '(?:(?<=[^\\p{L}\\p{N}_])|(?![\\p{L}\\p{N}_]))';
  return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${phrases.join('|')})${ends}`, 'u');
}
