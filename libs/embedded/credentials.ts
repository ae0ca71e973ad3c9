import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

/** User and password of an embedded store. */
export interface Credentials {
  user: string;
  password: string;
}

/**
 * Returns the random credentials of an embedded store. They are created at the first start of the store. Only the
 * file's owner can read them.
 */
export function readOrMakeCredentials(file: string): Credentials {
  return readOrMake(file, () => ({ user: 'earshot', password: randomPassword() }));
}

/** Returns 192 random bits, in characters that need no escaping in URLs and configuration files. */
export function randomPassword(): string {
  return randomBytes(24).toString('hex');
}

/** Reads a JSON file, or creates it atomically with mode 0600. */
export function readOrMake<T>(file: string, make: () => T): T {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as T;
  const made = make();
  writeFileSync(`${file}.new`, JSON.stringify(made), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return made;
}
