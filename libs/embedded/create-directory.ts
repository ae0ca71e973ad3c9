import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a directory and its missing parents, unless it exists. Node's `recursive` never returns, and blocks the
 * process, if the system does not create a directory in a directory that exists, as in /proc (Node 24).
 * @throws Error if the system does not create the directory
 */
export function createDirectory(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || existsSync(parent)) throw error;
    createDirectory(parent, mode);
    createDirectory(path, mode);
  }
}
