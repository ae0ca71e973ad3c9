/** One token of SQL. White space and comments are not tokens. */
export interface SqlToken {
  kind: 'word' | 'semicolon' | 'other';
  /** A word in upper case; the first character of any other token. */
  text: string;
  start: number;
  end: number;
  /** Number of open brackets around the token. */
  depth: number;
  /** For words and quoted identifiers: the name, in lower case. */
  name?: string;
}

const WORD_START = /[A-Za-z_]/;
const WORD_END = /[^A-Za-z0-9_]/g;
const SPACE = /[ \t\n\r\f\v]/;
const NUMBER_END = /[^0-9A-Za-z_.]/g;

/**
 * Splits SQL into tokens by ClickHouse's rules. The bridge needs the tokens only to find names, brackets and semicolons
 * that are not part of a text or a comment. `#` comments and `$heredocs$` are not recognized, because guard.ts refuses
 * them. Yields one token at a time, because the data after an INSERT's VALUES or FORMAT must not be read as SQL.
 */
export function* sqlTokens(sql: string): Generator<SqlToken> {
  let at = 0;
  let depth = 0;
  while (at < sql.length) {
    const skipped = endOfBlank(sql, at);
    if (skipped > at) {
      at = skipped;
      continue;
    }
    const char = sql[at] as string;
    const end = endOfToken(sql, at, char);
    if (char === ')' || char === ']') depth--;
    const isWord = WORD_START.test(char);
    const kind = isWord ? 'word' : char === ';' ? 'semicolon' : 'other';
    const text = isWord ? sql.slice(at, end).toUpperCase() : char;
    const name = isWord ? text.toLowerCase() : quotedName(sql, at, end);
    yield { kind, text, start: at, end, depth, ...(name === undefined ? {} : { name }) };
    if (char === '(' || char === '[') depth++;
    at = end;
  }
}

function endOfBlank(sql: string, at: number): number {
  if (SPACE.test(sql[at] as string)) return at + 1;
  if (sql.startsWith('--', at)) return orEnd(sql, sql.indexOf('\n', at), 1);
  if (sql.startsWith('/*', at)) return orEnd(sql, sql.indexOf('*/', at + 2), 2);
  return at;
}

function endOfToken(sql: string, at: number, char: string): number {
  if (char === "'" || char === '"' || char === '`') return endOfQuoted(sql, at, char);
  if (WORD_START.test(char)) return endBy(sql, at, WORD_END);
  if (char >= '0' && char <= '9') return endBy(sql, at, NUMBER_END);
  return at + 1;
}

/** Returns the name in a quoted identifier. Escapes stay unchanged, because guard.ts refuses names with escapes. */
function quotedName(sql: string, at: number, end: number): string | undefined {
  const quote = sql[at];
  if (quote !== '"' && quote !== '`') return undefined;
  return sql
    .slice(at + 1, end - 1)
    .replaceAll(quote + quote, quote)
    .toLowerCase();
}

/**
 * Returns the end of a quoted text. A quote inside the text is written twice or after a backslash. Without an end
 * quote, the token extends to the end of the SQL, and the engine reports the error.
 */
function endOfQuoted(sql: string, at: number, quote: string): number {
  for (let i = at + 1; i < sql.length; i++) {
    if (sql[i] === '\\') i++;
    else if (sql[i] === quote) {
      if (sql[i + 1] !== quote) return i + 1;
      i++;
    }
  }
  return sql.length;
}

function endBy(sql: string, at: number, end: RegExp): number {
  end.lastIndex = at + 1;
  return end.exec(sql)?.index ?? sql.length;
}

function orEnd(sql: string, found: number, length: number): number {
  return found === -1 ? sql.length : found + length;
}
