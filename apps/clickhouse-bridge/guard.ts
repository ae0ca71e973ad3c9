import { ClickhouseException } from './clickhouse-exception.js';
import type { SqlToken } from './sql-tokens.js';

// The engine itself refuses everything that the user's grants do not contain (engine-config.ts). This file checks the
// same again, and also refuses access that no grant controls: the scalar function file(), disks that a table defines,
// and files that a client reads or writes.

const STATEMENTS = new Set(
  'SELECT WITH ( INSERT CREATE ALTER DROP TRUNCATE OPTIMIZE RENAME EXCHANGE DELETE UPDATE SHOW DESCRIBE DESC EXISTS EXPLAIN'.split(
    ' ',
  ),
);
const CREATED = new Set(['TABLE', 'DATABASE', 'VIEW', 'MATERIALIZED', 'TEMPORARY', 'OR']);

/**
 * The allowed engines of tables and databases. They keep their data in the store's own directory or in memory, or keep
 * no data.
 */
export const TABLE_ENGINES = [
  'MergeTree',
  'ReplacingMergeTree',
  'SummingMergeTree',
  'AggregatingMergeTree',
  'CollapsingMergeTree',
  'VersionedCollapsingMergeTree',
  'CoalescingMergeTree',
  'Memory',
  'Null',
  'Atomic',
] as const;
const ENGINE_NAMES: ReadonlySet<string> = new Set(TABLE_ENGINES.map((name) => name.toLowerCase()));

/** The allowed table functions. These read only the statement and the store. */
const TABLE_FUNCTIONS: ReadonlySet<string> = new Set(
  'numbers numbers_mt zeros zeros_mt generate_series generateseries values view merge null format input'.split(
    ' ',
  ),
);

/**
 * Names that are refused everywhere: functions if they are called or only named (`APPLY file`, `arrayMap(file, …)`), and
 * INFILE and OUTFILE.
 */
const REFUSED_NAMES: ReadonlySet<string> = new Set(['file', 'catboostevaluate', 'infile', 'outfile']);
const REFUSED_CALLS: ReadonlySet<string> = new Set(['disk', 'executable', 'python']);

/**
 * Yields the tokens, and refuses tokens that give access to files, the network, programs or other databases. The data
 * after an INSERT's VALUES or FORMAT is not checked, because the caller reads no tokens after these words.
 * @param tableFunctions all table functions of the engine, in lower case; only the functions in `TABLE_FUNCTIONS` are
 * allowed
 * @throws ClickhouseException 344 for refused tokens; 62 for a statement that is not allowed, and for characters that
 * could hide text from this check
 */
export function* guarded(
  sql: string,
  tokens: Iterable<SqlToken>,
  tableFunctions: ReadonlySet<string>,
): Generator<SqlToken> {
  let first: SqlToken | undefined;
  let before: SqlToken | undefined;
  let isEngine = false;
  for (const token of tokens) {
    refuseAmbiguousText(sql, token);
    if (!first) refuseStatement(token);
    else if (before === first && first.text === 'CREATE' && !CREATED.has(token.text))
      throw refused(`CREATE ${token.text}`);
    if (token.name !== undefined && REFUSED_NAMES.has(token.name)) throw refused(token.name);
    if (token.text === '(' && before?.name !== undefined) refuseCall(before.name, tableFunctions);
    if (isEngine && token.text !== '=') {
      if (!ENGINE_NAMES.has(token.name ?? '')) throw refused(`ENGINE = ${token.name ?? token.text}`);
      isEngine = false;
    } else if (!isEngine) {
      isEngine = first?.text === 'CREATE' && token.text === 'ENGINE' && token.depth === 0;
    }
    first ??= token;
    before = token;
    yield token;
  }
}

function refuseStatement(token: SqlToken): void {
  if (!STATEMENTS.has(token.text) && token.kind !== 'semicolon')
    throw new ClickhouseException(
      62,
      'SYNTAX_ERROR',
      `Syntax error: ${token.text} is not the start of an allowed statement`,
    );
}

function refuseCall(name: string, tableFunctions: ReadonlySet<string>): void {
  const isForeign = tableFunctions.has(name) && !TABLE_FUNCTIONS.has(name);
  if (isForeign || REFUSED_CALLS.has(name)) throw refused(name);
}

/**
 * Refuses text that the engine and this parser read differently: escapes in names, heredocs, MySQL's comments, curly
 * quotes, and `file` directly after a number.
 */
function refuseAmbiguousText(sql: string, token: SqlToken): void {
  const raw = sql.slice(token.start, token.end);
  const isEscaped = token.name !== undefined && raw.includes('\\');
  const isOdd = token.kind === 'other' && raw.length === 1 && !/[!-~]/.test(raw);
  const isNumberAndName = /^[0-9].*file/i.test(raw);
  if (isEscaped || isOdd || isNumberAndName || raw === '$' || raw === '#')
    throw new ClickhouseException(62, 'SYNTAX_ERROR', `Syntax error: ${raw} is not allowed here`);
}

function refused(what: string): ClickhouseException {
  return new ClickhouseException(
    344,
    'SUPPORT_IS_DISABLED',
    `${what} is not available in the embedded ClickHouse: it has no files, network, programs or other databases`,
  );
}
