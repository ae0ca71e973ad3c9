/** Maximum length of an excerpt without the ellipses, in UTF-16 units. */
const EXCERPT_LENGTH = 280;

/**
 * Returns the part of a text around a match, at most 280 UTF-16 units and an ellipsis on each cut side. The part is cut
 * between words, or between characters if the text has no spaces near the cut.
 * @param matchStart index of the first UTF-16 unit of the match
 */
export function excerptOf(text: string, matchStart: number): string {
  if (text.length <= EXCERPT_LENGTH) return text;
  const start = startOf(text, matchStart);
  const end = endOf(text, start);
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`;
}

function startOf(text: string, matchStart: number): number {
  const wanted = Math.floor(matchStart - EXCERPT_LENGTH / 3);
  if (wanted <= 0) return 0;
  const space = text.indexOf(' ', wanted);
  return space >= 0 && space < matchStart ? space + 1 : beforeCharacter(text, wanted);
}

function endOf(text: string, start: number): number {
  const wanted = start + EXCERPT_LENGTH;
  if (wanted >= text.length) return text.length;
  const space = text.lastIndexOf(' ', wanted - 1);
  return space > start + EXCERPT_LENGTH / 2 ? space : beforeCharacter(text, wanted);
}

/** Returns the index, or the index before it if the given index is inside a surrogate pair. */
function beforeCharacter(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit <= 0xdfff ? index - 1 : index;
}
