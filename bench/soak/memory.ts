import { readFileSync } from 'node:fs';
import { processesBelow } from '../cpu-time.js';

const KIB_IN_MIB = 1024;

/** Memory of all processes of one program, in MiB. */
export interface Memory {
  /** Resident memory, as `ps` shows it: shared pages count for every process. */
  rss: number;
  /** Proportional memory: shared pages count once in total; NaN if the system does not report it. */
  pss: number;
  /** Memory that the program has written and that belongs to no file, so only the program can free it. */
  anonymous: number;
}

/** Returns the memory of the process and of all its descendants, by program. */
export function memoryBelow(root: number): Map<string, Memory> {
  const found = new Map<string, Memory>();
  for (const { pid, name } of processesBelow(root)) {
    const one = memoryOf(pid);
    if (!one) continue;
    const sum = found.get(name) ?? { rss: 0, pss: 0, anonymous: 0 };
    found.set(name, {
      rss: sum.rss + one.rss,
      pss: sum.pss + one.pss,
      anonymous: sum.anonymous + one.anonymous,
    });
  }
  return found;
}

/** Returns the memory of a process; undefined if the process has exited in the meantime. */
function memoryOf(pid: number): Memory | undefined {
  const status = textOf(`/proc/${pid}/status`);
  const rss = status && mibOf(status, 'VmRSS');
  if (!status || !rss) return undefined;
  // Only root can read the sums of another user's process.
  const rollup = textOf(`/proc/${pid}/smaps_rollup`);
  return {
    rss,
    pss: rollup ? mibOf(rollup, 'Pss') : Number.NaN,
    anonymous: rollup ? mibOf(rollup, 'Pss_Anon') : mibOf(status, 'RssAnon'),
  };
}

function mibOf(text: string, key: string): number {
  return Number(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / KIB_IN_MIB;
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
