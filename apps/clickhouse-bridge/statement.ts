import { ClickhouseException } from './clickhouse-exception.js';
import { guarded } from './guard.js';
import { sqlTokens, type SqlToken } from './sql-tokens.js';

/** A SELECT. Its result can be large, and a second run changes nothing. */
export interface SelectStatement {
  kind: 'select';
  sql: string;
  /** The format in the statement. */
  format?: string | undefined;
}

/** Any other statement, such as DDL, SHOW or INSERT … SELECT. Such a statement has a small result or no result. */
export interface CommandStatement {
  kind: 'command';
  sql: string;
  format?: string | undefined;
}

/** An INSERT whose rows are sent as data. The file with the rows is named between `head` and `tail`. */
export interface InsertStatement {
  kind: 'insert';
  head: string;
  tail: string;
  /** The data in the SQL; more data can follow in the body. */
  inlineData: string;
}

/** The statement of a request. */
export type Statement = SelectStatement | CommandStatement | InsertStatement;

/**
 * Classifies the SQL of one request.
 * @param tableFunctions the names of the engine's table functions, in lower case: see `guarded`
 * @throws ClickhouseException 62 for an empty query, for a statement that is not allowed, and for characters that could
 * hide text from the guard. Also for several statements, because the engine would run all of them
 * @throws ClickhouseException 344 for access to files, the network, programs or other databases
 */
export function parseStatement(sql: string, tableFunctions: ReadonlySet<string>): Statement {
  const tokens = sqlTokens(sql);
  const first = tokens.next().value as SqlToken | undefined;
  if (!first) throw new ClickhouseException(62, 'SYNTAX_ERROR', 'Empty query');
  if (first.text === 'INSERT') {
    const insert = parseInsert(sql, guarded(sql, sqlTokens(sql), tableFunctions));
    if (insert) return insert;
  }
  const { format, end } = readOneStatement(sql, guarded(sql, sqlTokens(sql), tableFunctions));
  const isSelect = first.text === 'SELECT' || first.text === 'WITH' || first.text === '(';
  return { kind: isSelect ? 'select' : 'command', sql: sql.slice(0, end), format };
}

/** Returns the parts of an INSERT; undefined for INSERT … SELECT. */
function parseInsert(sql: string, tokens: Iterable<SqlToken>): InsertStatement | undefined {
  let settingsAt: number | undefined;
  let before: SqlToken | undefined;
  let formatAt: number | undefined;
  for (const token of tokens) {
    if (formatAt !== undefined)
      return insertOf(sql, settingsAt ?? formatAt, formatAt, sql.slice(token.start, token.end), token.end);
    if (token.kind === 'word' && token.depth === 0) {
      if (token.text === 'SELECT' || token.text === 'WITH') return undefined;
      if (token.text === 'SETTINGS') settingsAt = token.start;
      if (token.text === 'FORMAT') formatAt = token.start;
      // `VALUES` after INTO or TABLE is the name of a table.
      if (token.text === 'VALUES' && before?.text !== 'INTO' && before?.text !== 'TABLE')
        return insertOf(sql, settingsAt ?? token.start, token.start, 'Values', token.end);
    }
    before = token;
  }
  return undefined;
}

function insertOf(
  sql: string,
  headEnd: number,
  settingsEnd: number,
  format: string,
  dataAt: number,
): InsertStatement {
  const inlineData = sql.slice(dataAt).replace(/^[ \t\r]*\n?/, '');
  return {
    kind: 'insert',
    head: sql.slice(0, headEnd).trimEnd(),
    tail: `${sql.slice(headEnd, settingsEnd)} FORMAT ${format}`,
    inlineData: inlineData.trim() === ';' ? '' : inlineData,
  };
}

function readOneStatement(
  sql: string,
  tokens: Iterable<SqlToken>,
): { format?: string | undefined; end: number } {
  let end = sql.length;
  let before: SqlToken | undefined;
  let format: string | undefined;
  let isAfterFormat = false;
  for (const token of tokens) {
    if (before?.kind === 'semicolon' && token.kind !== 'semicolon')
      throw new ClickhouseException(
        62,
        'SYNTAX_ERROR',
        `Syntax error (Multi-statements are not allowed): failed at position ${token.start + 1}`,
      );
    if (token.kind === 'semicolon' && before?.kind !== 'semicolon') end = token.start;
    // Only SETTINGS can follow a FORMAT clause; otherwise `format` is the name of a column.
    if (isAfterFormat && token.kind !== 'semicolon' && token.text !== 'SETTINGS') format = undefined;
    isAfterFormat = token.kind === 'word' && token.depth === 0 && before?.text === 'FORMAT';
    if (isAfterFormat) format = sql.slice(token.start, token.end);
    before = token;
  }
  return { format, end };
}
