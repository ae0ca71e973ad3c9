/**
 * Returns a text in lower case with the same length, so that a position means the same character in both texts. Only İ
 * (U+0130) would become longer in lower case, so it becomes i. Every sigma becomes σ: otherwise a sigma at the end of a
 * word (ς) would differ from a sigma inside a word.
 */
export function lowerCase(text: string): string {
  return text.replaceAll('\u0130', 'i').toLowerCase().replaceAll('ς', 'σ');
}
