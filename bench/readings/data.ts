import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { textOption } from '../harness.js';

/** A row of a labelled file, by column. */
export type Row = Record<string, string>;

const FOLDER = textOption('data') ?? process.env.READINGS_DATA ?? '../shared/readings';

/** Returns the rows of a labelled file. If the file is absent, prints a message and returns undefined. */
export function labelled(file: string): Row[] | undefined {
  const path = join(FOLDER, file);
  if (existsSync(path)) return rowsOf(path);
  console.log(`not measured: ${path} is absent (--data or READINGS_DATA names the folder)`);
  return undefined;
}

/** Returns the posts about ambiguous names that are part of the project. */
export function ownPosts(): Row[] {
  return rowsOf(new URL('../../../bench/readings/relevance.tsv', import.meta.url));
}

function rowsOf(path: string | URL): Row[] {
  const [head = '', ...lines] = readFileSync(path, 'utf8').split('\n');
  const columns = head.split('\t');
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const cells = line.split('\t');
      return Object.fromEntries(columns.map((column, n) => [column, cells[n] ?? '']));
    });
}
