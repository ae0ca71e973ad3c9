import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';

const POLL_MS = 100;

/**
 * Does `work` while no other process does. Waits for one that is at it; a lock whose holder is no more (kill -9) is
 * taken away.
 */
export async function withLock(file, tell, work) {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, JSON.stringify({ pid: process.pid, startedAt: startOf(process.pid) }));
  let hasTold = false;
  try {
    while (!linked(own, file)) {
      const holder = holderOf(file);
      if (!holder || startOf(holder.pid) !== holder.startedAt) {
        removeStale(file, holder);
        continue;
      }
      if (!hasTold) tell(`another process (pid ${holder.pid}) is installing or building; waiting for it …`);
      hasTold = true;
      await after(POLL_MS);
    }
  } finally {
    rmSync(own, { force: true });
  }
  const release = () => rmSync(file, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.off('exit', release);
    release();
  }
}

/** A link appears whole or not at all, so nobody reads half a lock. */
function linked(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Only when it is still the one that was found stale: somebody may have taken over meanwhile. */
function removeStale(file, holder) {
  if (JSON.stringify(holderOf(file)) === JSON.stringify(holder)) rmSync(file, { force: true });
}

function holderOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** When a process began, as the system counts it; a pid alone may be another process by now. */
function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    // Not Linux, or gone.
    return isThere(pid) ? 'running' : 'gone';
  }
}

function isThere(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
