/**
 * Returns a value as JSON that Postgres can store as jsonb. Removes U+0000 from the texts, and replaces lone surrogates
 * with U+FFFD, because jsonb contains neither. The keys of objects must not contain them.
 */
export function jsonbText(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'string' ? part.replaceAll('\0', '').toWellFormed() : part,
  );
}
