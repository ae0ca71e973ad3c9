import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** User and password of an embedded store. */
export interface Credentials {
  user: string;
  password: string;
}

/**
 * Returns the random credentials of an embedded store. They are created at the first start of the store. Only the
 * file's owner can read them.
 * @throws Error that says what to do if the file is damaged
 */
export function readOrMakeCredentials(file: string): Credentials {
  const make = () => ({ user: 'earshot', password: randomPassword() });
  return readOrMake(file, make, 'Remove it; the next start creates a new one.');
}

/** Returns 192 random bits, in characters that need no escaping in URLs and configuration files. */
export function randomPassword(): string {
  return randomBytes(24).toString('hex');
}

/**
 * Reads a JSON file, or creates it atomically with mode 0600.
 * @param advice what to do if the file is damaged
 * @throws Error with the name of the file and the advice if the file is damaged
 */
export function readOrMake<T>(file: string, make: () => T, advice: string): T {
  if (existsSync(file)) {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as T;
    } catch (error) {
      throw new Error(`${file} is damaged (${(error as Error).message}). ${advice}`, { cause: error });
    }
  }
  const made = make();
  writeDurably(file, JSON.stringify(made));
  return made;
}

/**
 * Writes a file and syncs it and its directory to the disk. Without that, a power failure could leave an empty file, or
 * a Postgres whose passwords nobody has.
 */
function writeDurably(file: string, text: string): void {
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
