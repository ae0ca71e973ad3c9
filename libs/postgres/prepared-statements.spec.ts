import { PreparedStatements } from './prepared-statements.js';

function nameAfter(runs: number, text: string, statements = new PreparedStatements()): string | undefined {
  let name: string | undefined;
  for (let n = 0; n < runs; n += 1) name = statements.nameOf(text);
  return name;
}

describe('prepared statements', () => {
  it('are the statements that ran more than 20 times, each with its own name', () => {
    const statements = new PreparedStatements();
    expect(nameAfter(20, 'SELECT $1', statements)).toBeUndefined();
    const name = statements.nameOf('SELECT $1');
    expect(name).toBeDefined();
    expect(statements.nameOf('SELECT $1')).toBe(name);
    expect(nameAfter(21, 'SELECT $1 + 1', statements)).not.toBe(name);
  });

  it.each(['SELECT * FROM t', 'SELECT t.*, 1 FROM t', 'SELECT 1, * FROM t', 'DELETE FROM t RETURNING *'])(
    'do not include statements that select all columns: %s',
    (text) => expect(nameAfter(100, text)).toBeUndefined(),
  );

  it('can include a statement with count(*)', () =>
    expect(nameAfter(21, 'SELECT count(*) FROM t')).toBeDefined());

  it('are at most 200', () => {
    const statements = new PreparedStatements();
    for (let n = 0; n < 200; n += 1) nameAfter(21, `SELECT ${n}`, statements);
    expect(nameAfter(100, 'SELECT 200', statements)).toBeUndefined();
    expect(statements.nameOf('SELECT 0')).toBeDefined();
  });

  it('do not include a statement if 500 others ran after its first 20 runs', () => {
    const statements = new PreparedStatements();
    nameAfter(20, 'SELECT $1', statements);
    for (let n = 0; n < 500; n += 1) statements.nameOf(`SELECT ${n}`);
    expect(statements.nameOf('SELECT $1')).toBeUndefined();
  });
});
