/**
 * Returns a text in lower case with the same length, so that a position means the same character in both texts. Only İ
 * (U+0130) would become longer in lower case, so it becomes i. Every sigma becomes σ: otherwise a sigma at the end of a
 * word (ς) would differ from a sigma inside a word. A text that can contain i + U+0307 must first go through
 * `withoutDots`.
 */
export function lowerCase(text: string): string {
  return text.replaceAll('\u0130', 'i').toLowerCase().replaceAll('ς', 'σ');
}

/**
 * Returns the text without U+0307 after i and I. İ (U+0130) that another program wrote in lower case is i + U+0307, and
 * must be equal to the i of `lowerCase`.
 */
export function withoutDots(text: string): string {
  return text.replace(/(?<=i)\u0307/gi, '');
}
