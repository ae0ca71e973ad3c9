import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a directory and its missing parents, if the directory does not exist. Does not use the option `recursive` of
 * Node: if a parent exists but the system creates no directory in it, as in /proc, that call never returns (Node 24).
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
