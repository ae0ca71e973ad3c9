import { read } from './deployment-files.js';

/** Returns the metrics in the tables of docs/operations.md, each with its labels in alphabetical order. */
export function documentedMetrics(): Map<string, string[]> {
  const cells = read('docs/operations.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|')[1] ?? '');
  const named = cells.flatMap((cell) => [
    ...cell.matchAll(/`((?:earshot|process|nodejs)_[a-z0-9_]+)(?:\{([a-z,]+)\})?`/g),
  ]);
  return new Map(named.map(([, name = '', labels]) => [name, labels?.split(',').sort() ?? []]));
}

/** Returns the name without the suffix that Prometheus adds to a histogram. */
export function withoutHistogramSuffix(name: string): string {
  return name.replace(/_(bucket|count|sum)$/, '');
}
