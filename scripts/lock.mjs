import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';

const POLL_MS = 100;

/**
 * Runs `work` while no other process runs it. Waits for a process that has the lock; removes the lock of a process that
 * has died (kill -9).
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

/** Creates the lock as a link; returns false if it exists. This is atomic, so no process reads an incomplete lock. */
function linked(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes the lock only if it is unchanged: another process can have taken the lock meanwhile. */
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

/**
 * Returns the start time of a process in the system's units. On other systems than Linux, returns only whether the
 * process runs. The pid is not enough, because another process can have got this pid meanwhile.
 */
function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    // Not Linux, or the process has exited.
    return isRunning(pid) ? 'running' : 'gone';
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
