const MAX_PARTS = 60;

/** The sentences of a text, with their final punctuation mark. */
export function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.!?])\s+|\s[—–|]\s/u, MAX_PARTS).filter((part) => part !== '');
}

/** The clauses of a text that a contrast separates ("great screen, but the battery is bad"). */
export function contrastsOf(text: string): string[] {
  return text
    .split(
      /(?<=[.!?;])\s+|,?\s(?=(?:but|although|though|while|whereas|however|yet|unfortunately|sadly)\b)/iu,
      MAX_PARTS,
    )
    .filter((part) => part !== '');
}
