import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

/** Who may use an embedded store. */
export interface Credentials {
  user: string;
  password: string;
}

/** Of an embedded store: made at its first start, random, and readable by the file's owner alone. */
export function readOrMakeCredentials(file: string): Credentials {
  return readOrMake(file, () => ({ user: 'earshot', password: randomPassword() }));
}

/** 192 random bits, in characters that no address and no configuration file reads otherwise. */
export function randomPassword(): string {
  return randomBytes(24).toString('hex');
}

/** Reads a JSON file, or makes it: whole or not at all, with mode 0600. */
export function readOrMake<T>(file: string, make: () => T): T {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as T;
  const made = make();
  writeFileSync(`${file}.new`, JSON.stringify(made), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return made;
}
