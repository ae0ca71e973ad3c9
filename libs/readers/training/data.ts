import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the labelled data: see docs/readings.md. */
export const DATA_FOLDER = process.env.READINGS_DATA ?? '../shared/readings';

/** The labels of the sentiment files, in the order of the models' classes. */
export const MOODS = ['negative', 'neutral', 'positive'] as const;

/** Returns the rows of a tab-separated file as records. The first line contains the names of the columns. */
export function rowsOf(folder: string, file: string): Record<string, string>[] {
  const [head = '', ...lines] = readFileSync(join(folder, file), 'utf8').split('\n');
  const columns = head.split('\t');
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const cells = line.split('\t');
      return Object.fromEntries(columns.map((column, n) => [column, cells[n] ?? '']));
    });
}

/** Returns the paths of the missing files. */
export function missingFiles(folder: string, files: readonly string[]): string[] {
  return files.map((file) => join(folder, file)).filter((path) => !existsSync(path));
}
