import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { writeDurably } from '#kernel';

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
