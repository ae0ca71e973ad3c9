import { readdirSync, readFileSync } from 'node:fs';

/** Seconds of processor time, by program. */
export type CpuTimes = Map<string, number>;

/** Clock ticks of `/proc/<pid>/stat` in a second: 100 on every Linux that Node runs on. */
const TICKS = 100;

/**
 * Returns the processor time of this process and of all its descendants, by program. A rate depends much more on the
 * other load of the machine than processor time does. The result is empty if there is no `/proc`.
 */
export function cpuTimes(): CpuTimes {
  const times: CpuTimes = new Map();
  for (const { name, seconds } of processesBelow(process.pid))
    times.set(name, (times.get(name) ?? 0) + seconds);
  return times;
}

/** A running process and the name of its program. */
export interface RunningProcess {
  pid: number;
  parent: number;
  /** Processor seconds until now. */
  seconds: number;
  name: string;
}

/** Returns the process and all its descendants; empty if there is no `/proc`. */
export function processesBelow(root: number): RunningProcess[] {
  const processes = new Map<number, RunningProcess>();
  for (const entry of entriesOfProc()) {
    const found = readProcess(Number(entry));
    if (found) processes.set(found.pid, found);
  }
  return [...processes.values()].filter(({ pid }) => isBelow(pid, root, processes));
}

/**
 * Returns the processor seconds between two measurements, of each program that used at least 0.05: `delivery 1.93,
 * receiver 0.71`.
 */
export function cpuText(before: CpuTimes, after: CpuTimes): string {
  return [...after]
    .map(([name, seconds]) => [name, seconds - (before.get(name) ?? 0)] as const)
    .filter(([, seconds]) => seconds >= 0.05)
    .sort(([, a], [, b]) => b - a)
    .map(([name, seconds]) => `${name} ${seconds.toFixed(2)}`)
    .join(', ');
}

function isBelow(pid: number, root: number, processes: ReadonlyMap<number, { parent: number }>): boolean {
  for (let at: number | undefined = pid; at !== undefined; at = processes.get(at)?.parent)
    if (at === root) return true;
  return false;
}

function entriesOfProc(): string[] {
  try {
    return readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  } catch {
    return [];
  }
}

function readProcess(pid: number): RunningProcess | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [parent = 0, user = 0, system = 0] = [fields[1], fields[11], fields[12]];
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return { pid, parent, seconds: (user + system) / TICKS, name: nameOf(words) };
  } catch {
    // The process has exited in the meantime.
    return undefined;
  }
}

/**
 * Returns the name of a process: `delivery` for `node …/apps/delivery/main.js`, `receiver` for `node …/receiver.js`,
 * `nats-server` for the binary of nats-server.
 */
function nameOf(words: readonly string[]): string {
  const program = words.find((word) => word.endsWith('.js')) ?? words[0] ?? '';
  const parts = program.split(/[/ ]/).filter(Boolean);
  const last = parts.at(-1) ?? '';
  if (program.startsWith('postgres:')) return 'postgres';
  return last === 'main.js' ? (parts.at(-2) ?? '') : last.replace(/\.js$/, '').replace(/:$/, '');
}
