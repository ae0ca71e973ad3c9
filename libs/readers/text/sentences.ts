const MAX_PARTS = 60;

/**
 * Returns the first 60 sentences of a text, with their final punctuation mark. A dash or `|` between spaces also ends a
 * sentence.
 */
export function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.!?])\s+|\s[—–|]\s/u, MAX_PARTS).filter((part) => part !== '');
}

/**
 * Returns the first 60 clauses of a text. A clause ends after `.`, `!`, `?` or `;`, or before a word of contrast ("great
 * screen, but the battery is bad").
 */
export function contrastsOf(text: string): string[] {
  return text
    .split(
      /(?<=[.!?;])\s+|,?\s(?=(?:but|although|though|while|whereas|however|yet|unfortunately|sadly)\b)/iu,
      MAX_PARTS,
    )
    .filter((part) => part !== '');
}
