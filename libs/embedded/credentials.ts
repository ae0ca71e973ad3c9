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
 * @throws Error that says what to do if the file is damaged or cannot be read
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
 * Reads a JSON object of strings from a file, or creates the file atomically with mode 0600.
 * @param make returns the content of a new file. An existing file must have the same fields
 * @param advice what to do if the file is damaged
 * @throws Error with the name of the file and the advice if the content is not JSON, or a field is missing or empty;
 *   Error with the name of the file and another advice if this user cannot read the file
 */
export function readOrMake<T extends { [K in keyof T]: string }>(
  file: string,
  make: () => T,
  advice: string,
): T {
  const made = make();
  if (existsSync(file)) return parse(file, read(file), Object.keys(made) as (keyof T)[], advice);
  writeDurably(file, JSON.stringify(made));
  return made;
}

/** The file is possibly complete, so the error never advises to remove it. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isForbidden = code === 'EACCES' || code === 'EPERM';
    throw new Error(
      isForbidden
        ? `${file} cannot be read by this user (${code}). Change the owner of the file to the user that runs Earshot (chown), and start again.`
        : `${file} cannot be read (${message})`,
      { cause: error },
    );
  }
}

function parse<T>(file: string, text: string, fields: readonly (keyof T)[], advice: string): T {
  const damaged = (reason: string, cause?: unknown) =>
    new Error(`${file} is damaged (${reason}). ${advice}`, { cause });
  let content: Partial<T> | null;
  try {
    content = JSON.parse(text) as Partial<T> | null;
  } catch (error) {
    throw damaged((error as Error).message, error);
  }
  const missing = fields.filter((field) => typeof content?.[field] !== 'string' || content[field] === '');
  if (missing.length > 0) throw damaged(`it lacks ${missing.join(' and ')}`);
  return content as T;
}
