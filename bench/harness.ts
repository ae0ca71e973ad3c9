import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded, type EmbeddedStores } from '#embedded';

/** Reports progress on standard error. Standard output contains only the result. */
export function printProgress(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Prints the usage and ends the process if `--help` was given. */
export function helpWanted(text: string): void {
  if (!process.argv.includes('--help')) return;
  process.stdout.write(`${text.trim()}\n`);
  process.exit(0);
}

/** Returns the number after `--name`, or the default. */
export function numberOption(name: string, otherwise: number): number {
  const at = process.argv.indexOf(`--${name}`);
  if (at < 0) return otherwise;
  const value = Number(process.argv[at + 1]);
  if (Number.isFinite(value) && value > 0) return value;
  process.stderr.write(`--${name} must be a number greater than 0\n`);
  process.exit(2);
}

/** Returns the text after `--name`; undefined if the option is not given. @param allowed default: any text */
export function textOption<T extends string>(name: string, allowed?: readonly T[]): T | undefined {
  const at = process.argv.indexOf(`--${name}`);
  if (at < 0) return undefined;
  const value = process.argv[at + 1] as T | undefined;
  if (value !== undefined && !value.startsWith('--') && (allowed?.includes(value) ?? true)) return value;
  process.stderr.write(
    `--${name} needs ${allowed ? `one of these values: ${allowed.join(', ')}` : 'a value'}\n`,
  );
  process.exit(2);
}

/** Stops everything that a bench has started, in reverse order, also after an error or a signal. */
export class Cleanup {
  private readonly steps: (() => unknown)[] = [];
  private ended: Promise<void> | undefined;

  add(step: () => unknown): void {
    this.steps.push(step);
  }

  end(): Promise<void> {
    return (this.ended ??= this.run());
  }

  private async run(): Promise<void> {
    for (const step of this.steps.reverse())
      try {
        await step();
      } catch (error) {
        printProgress(`not cleaned up: ${error instanceof Error ? error.message : String(error)}`);
      }
  }
}

/** Runs the bench and cleans up afterwards, also after an error, Ctrl-C or SIGTERM. */
export async function runBench(work: (cleanup: Cleanup) => Promise<void>): Promise<void> {
  const cleanup = new Cleanup();
  const began = performance.now();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void cleanup.end().then(() => process.exit(130)));
  try {
    await work(cleanup);
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    console.log(`\n${seconds} s in all, Node ${process.version}, ${machine()}`);
  } catch (error) {
    printProgress(error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.exitCode = 1;
  } finally {
    await cleanup.end();
  }
  // An open pooled connection must not delay the end of a finished bench.
  process.exit();
}

/** Creates a temporary directory for the bench, which is deleted when the bench ends. */
export function temporaryDirectory(cleanup: Cleanup): string {
  const directory = mkdtempSync(join(tmpdir(), 'earshot-bench-'));
  // If this process is root, Postgres runs as another user. This user needs access to the files below the directory.
  chmodSync(directory, 0o711);
  cleanup.add(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Starts embedded stores for the bench, in a temporary directory. */
export async function benchStores(cleanup: Cleanup): Promise<EmbeddedStores> {
  const dataDir = join(temporaryDirectory(cleanup), 'data');
  const stores = await startEmbedded({ dataDir, log: { info: () => {}, warn: printProgress } });
  cleanup.add(() => stores.stop());
  return stores;
}

/** Returns the middle value; for an even number of values, the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [below, above] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return ((below ?? Number.NaN) + (above ?? Number.NaN)) / 2;
}

/** Returns a quantile of the values. For p95, `part` is 0.95. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** Returns the ratios of two programs, round by round: in a round, the load of the machine is the same for both. */
export function ratios(ours: readonly number[], theirs: readonly number[]): number[] {
  return ours.map((value, round) => value / (theirs[round] ?? Number.NaN));
}

/** Prints rows below a header, with the first column left-aligned and the others right-aligned. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const all = [head, ...rows.map((row) => row.map(String))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  for (const row of all)
    console.log(
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart((widths[column] ?? 0) + 2),
        )
        .join(''),
    );
}

/** Prints whether a target was reached. A missed target does not fail the bench. */
export function target(what: string, value: number, bound: number, side: 'at least' | 'at most'): void {
  const reached = side === 'at least' ? value >= bound : value <= bound;
  console.log(
    `target ${what}: ${value.toFixed(2)}, ${side} ${bound} wanted: ${reached ? 'reached' : 'missed'}`,
  );
}

/** Returns the load averages of 1 and 5 minutes, which include other programs. */
export function load(): string {
  return loadavg()
    .slice(0, 2)
    .map((value) => value.toFixed(1))
    .join(' / ');
}

function machine(): string {
  return `load (1 / 5 min) ${load()}`;
}
