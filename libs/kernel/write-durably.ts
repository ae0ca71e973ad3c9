import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Replaces a file atomically, with mode 0600, and syncs it and its directory to the disk. Without the sync, a power
 * failure could leave an empty file, whose earlier content could not be restored.
 */
export function writeDurably(file: string, text: string): void {
  const fresh = openSync(`${file}.new`, 'w', 0o600);
  try {
    writeSync(fresh, text);
    fsyncSync(fresh);
  } finally {
    closeSync(fresh);
  }
  renameSync(`${file}.new`, file);
  const directory = openSync(dirname(file), 'r');
  fsyncSync(directory);
  closeSync(directory);
}
