import { readdirSync, readFileSync } from 'node:fs';
import { Command } from 'commander';
import { checkout } from '#testing';
import * as projections from '#projections';
import { addProjectionCommands } from './projections.js';

interface Line {
  name: string;
  store: string;
  stream: string;
  fills: string;
}

/** Runs `projections list` and returns its lines. */
async function listed(): Promise<Line[]> {
  const lines: string[] = [];
  const write = jest
    .spyOn(process.stdout, 'write')
    .mockImplementation((text) => lines.push(String(text)) > 0);
  const program = new Command();
  addProjectionCommands(program);
  await program.parseAsync(['projections', 'list'], { from: 'user' }).finally(() => write.mockRestore());
  return lines.map((line) => JSON.parse(line) as Line);
}

/** Returns the consumers in the files `*.sink.ts`, and the tables of ClickHouse into which each inserts rows. */
function sinks(): { name: string; tables: string[] }[] {
  const folder = new URL('apps/analysis/readmodels/', checkout);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sink.ts'))
    .map((file) => {
      const text = readFileSync(new URL(file, folder), 'utf8');
      const constant = /@ConsumerPattern\(\{[^}]*\bname: (\w+)/.exec(text)?.[1] ?? '';
      const inserts = text.matchAll(/insertRows(?:<\w+>)?\(\s*(?:this\.)?clickhouse,\s*'(\w+)'/g);
      return {
        name: String(Object.entries(projections).find(([key]) => key === constant)?.[1]),
        tables: [...inserts].map(([, table = '']) => table),
      };
    });
}

describe('projections list', () => {
  it('names every table of ClickHouse into which a projection inserts rows', async () => {
    const fills = new Map((await listed()).map((line) => [line.name, line.fills]));
    expect(sinks().length).toBeGreaterThan(5);
    const missing = sinks().flatMap(({ name, tables }) => {
      const words = fills.get(name)?.split(/\W+/) ?? [];
      // If no table was found, the pattern for `insertRows` does not fit the code any more.
      if (tables.length === 0) return [name];
      return tables.filter((table) => !words.includes(table)).map((table) => `${name}: ${table}`);
    });
    expect(missing).toEqual([]);
  });

  it('shows the store of each projection: ClickHouse for the sinks, Postgres for all others', async () => {
    const names = new Set(sinks().map(({ name }) => name));
    for (const { name, store } of await listed())
      expect([name, store]).toEqual([name, names.has(name) ? 'clickhouse' : 'postgres']);
  });
});
