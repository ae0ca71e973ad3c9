const characters = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * Returns the beginning of a text: at most `max` UTF-16 units, and never a part of a character, such as half an emoji.
 * Only a character that is longer than `max` is cut.
 */
export function beginningOf(text: string, max: number): string {
  if (text.length <= max) return text;
  // Only the character at the end is examined, because a loop over all characters takes long.
  const end = characters.segment(text.slice(0, max * 2)).containing(max)?.index;
  return end ? text.slice(0, end) : text.slice(0, max).toWellFormed();
}
