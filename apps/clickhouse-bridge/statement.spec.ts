import { ClickhouseException, fromEngineError } from './clickhouse-exception.js';
import { parseStatement as parse } from './statement.js';

/** A few of the engine's table functions. The bridge reads all table functions from the engine. */
const tableFunctions = new Set([
  'file',
  'filecluster',
  'url',
  'urlcluster',
  's3',
  'remote',
  'cluster',
  'mysql',
  'iceberg',
  'hudi',
  'azureblobstorage',
  'loop',
  'numbers',
  'values',
  'view',
  'executable',
  'sqlite',
]);

function parseStatement(sql: string) {
  return parse(sql, tableFunctions);
}

function refusal(sql: string): ClickhouseException {
  try {
    parseStatement(sql);
  } catch (error) {
    if (error instanceof ClickhouseException) return error;
  }
  throw new Error(`not refused: ${sql}`);
}

describe('parseStatement', () => {
  it('recognizes a select by its first word after comments and brackets', () => {
    expect(parseStatement('-- x\n/* y */ SELECT 1 FORMAT JSONEachRow')).toEqual({
      kind: 'select',
      sql: '-- x\n/* y */ SELECT 1 FORMAT JSONEachRow',
      format: 'JSONEachRow',
    });
    expect(parseStatement('(select 1) union all (select 2)').kind).toBe('select');
    expect(parseStatement('with 1 as a select a').kind).toBe('select');
    expect(parseStatement('show tables').kind).toBe('command');
  });

  it('does not mistake a column called format for a FORMAT clause', () => {
    expect(parseStatement("select format('{}', a) as format from t")).toMatchObject({ format: undefined });
    expect(parseStatement('select (select 1 as format) as x')).toMatchObject({ format: undefined });
    expect(parseStatement('select 1 format CSV settings max_threads = 1;')).toMatchObject({ format: 'CSV' });
  });

  it('removes the semicolon at the end', () => {
    expect(parseStatement('select 1 ; -- done\n;')).toMatchObject({ kind: 'select', sql: 'select 1 ' });
  });

  it('refuses a second statement, even after quotes or comments, and an empty query', () => {
    expect(refusal('select 1; drop table t').code).toBe(62);
    expect(refusal("select 'a\\'; select'; drop table t").code).toBe(62);
    expect(refusal("select 'a''b'; drop table t").code).toBe(62);
    expect(refusal('select 1 /* ; */ ; -- ;\n drop table t').code).toBe(62);
    expect(refusal('').code).toBe(62);
  });

  it('treats semicolons inside quotes and comments as text', () => {
    for (const sql of ["select ';x'", 'select `;x`', 'select ";x"', 'select 1 -- ;x\n', "select '\\';x'"])
      expect(parseStatement(sql)).toMatchObject({ kind: 'select', sql });
  });

  it('refuses access to files of the machine', () => {
    expect(refusal("insert into t from infile '/etc/passwd' format CSV").code).toBe(344);
    expect(refusal("select 1 into outfile '/tmp/x'").code).toBe(344);
  });
});

describe('an insert', () => {
  it('is split at its SETTINGS or FORMAT clause', () => {
    expect(parseStatement('INSERT INTO a.t (x, y) SETTINGS async_insert=1 FORMAT JSONEachRow')).toEqual({
      kind: 'insert',
      head: 'INSERT INTO a.t (x, y)',
      tail: 'SETTINGS async_insert=1  FORMAT JSONEachRow',
      inlineData: '',
    });
  });

  it('keeps rows in the SQL unchanged, including quotes and semicolons', () => {
    expect(parseStatement('insert into t format JSONEachRow\n{"a":"it\'s; b"}\n\n{"a":1}')).toMatchObject({
      inlineData: '{"a":"it\'s; b"}\n\n{"a":1}',
    });
    expect(parseStatement("insert into values values (1, 'x')")).toMatchObject({
      head: 'insert into values',
      tail: ' FORMAT Values',
      inlineData: "(1, 'x')",
    });
  });

  it('is treated as a command if its rows come from a select', () => {
    expect(parseStatement('insert into t select * from u').kind).toBe('command');
  });
});

describe('an error of the engine', () => {
  it('contains the code, the type and the message of the engine', () => {
    const exception = fromEngineError(
      new Error('Code: 60. DB::Exception: Table default.t does not exist. (UNKNOWN_TABLE)'),
    );
    expect(exception).toMatchObject({
      code: 60,
      type: 'UNKNOWN_TABLE',
      message: 'Table default.t does not exist',
    });
    expect(exception.httpStatus).toBe(404);
    expect(exception.toText('26.7')).toBe(
      'Code: 60. DB::Exception: Table default.t does not exist. (UNKNOWN_TABLE) (version 26.7)\n',
    );
  });

  it('does not name the temporary file of the rows', () => {
    const message =
      'Code: 27. DB::Exception: Code: 27. DB::Exception: Cannot parse input: (at row 3)\n: (in file/uri /tmp/in.dat): While executing File: data for INSERT was parsed from file. (CANNOT_PARSE_INPUT_ASSERTION_FAILED) (version 26.7.2.1). (CANNOT_PARSE_INPUT_ASSERTION_FAILED)';
    expect(fromEngineError(new Error(message))).toMatchObject({
      code: 27,
      type: 'CANNOT_PARSE_INPUT_ASSERTION_FAILED',
      message: 'Cannot parse input: (at row 3)\n: While executing File',
    });
  });
});

describe('the embedded ClickHouse', () => {
  it.each([
    ["select * from file('/etc/passwd')", 344],
    ["select FILE ('/etc/passwd')", 344],
    ["select file/**/('/etc/passwd')", 344],
    ["select `file`('/etc/passwd')", 344],
    ['select "file"(\'/etc/passwd\')', 344],
    ["select `\\x66ile`('/etc/passwd')", 62],
    ["select “file”('/etc/passwd')", 62],
    ["select 1 as $a$, file('/etc/passwd')", 62],
    ["select 1 # '\n, file('/etc/passwd')", 62],
    ["select * apply file from (select '/etc/passwd')", 344],
    ["select arrayMap(file, ['/etc/passwd'])", 344],
    ["select 1, -- file\n file('/etc/passwd')", 344],
    ["explain select file('/etc/passwd')", 344],
    ["create table t (x String default file('/etc/passwd')) engine = Memory", 344],
    ["create table t engine = Memory as select * from url('http://127.0.0.1/', LineAsString)", 344],
    ["create table t (x String) engine = File(TSV, '/etc/passwd')", 344],
    ["create table t (x String) engine `URL`('http://127.0.0.1/')", 344],
    ["create table t (x String) engine = MergeTree order by x settings disk = disk(type = 'web')", 344],
    ["create database d engine = Filesystem('/')", 344],
    // The engine creates the file before it refuses these two statements.
    ["create database d engine = SQLite('/tmp/x')", 344],
    ["select * from sqlite('/tmp/x', 't')", 344],
    ["create table t (x String) engine = Executable('id', TSV)", 344],
    ["create dictionary d (k UInt64) primary key k source(http(url '')) layout(flat())", 344],
    ['create function f as x -> x', 344],
    ["insert into function url('http://127.0.0.1/', TSV, 'x String') values ('a')", 344],
    ["insert into table function remote('127.0.0.1', system.one) select 1", 344],
    ["insert into t select * from fileCluster('c', '/etc/passwd')", 344],
    ["select * from s3 ('http://127.0.0.1/')", 344],
    ['select * from (select * from numbers(1)), URLcluster(c, 1)', 344],
    ["select catboostEvaluate('/tmp/model', 1)", 344],
    ["select (select 1 into outfile '/tmp/x')", 344],
    ["backup table t to File('/tmp/x')", 62],
    ["restore table t from File('/tmp/x')", 62],
    ["attach table t from '/tmp/x' (x String) engine = Memory", 62],
    ['system shutdown', 62],
    ["set dialect = 'kusto'", 62],
    ['grant all on *.* to default', 62],
    ['kill query where 1', 62],
  ])('refuses %s with the error code %i', (sql, code) => expect(refusal(sql).code).toBe(code));

  it('accepts data, comments and columns that look like refused functions', () => {
    for (const sql of [
      "select 'file(''/etc/passwd'')' /* file() */ -- url()",
      'select profile, url, format(a), engine from t order by remote',
      'select * from numbers(3), view(select 1)',
      'create table t (engine String, url String) engine = ReplacingMergeTree order by engine',
      'create database if not exists d',
    ])
      expect(parseStatement(sql)).toMatchObject({ sql });
    expect(parseStatement("insert into t format TSV\nfile('/etc/passwd')")).toMatchObject({ kind: 'insert' });
  });
});
