/** A text in lower case, with the same length, so that positions in both agree: only İ (U+0130) would become longer. */
export function lowerCase(text: string): string {
  return text.replaceAll('\u0130', 'i').toLowerCase();
}
