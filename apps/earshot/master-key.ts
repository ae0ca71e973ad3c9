import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SettingsError } from '#config';
import { writeDurably } from '#kernel';
import { masterKeys } from '#secrets';

/**
 * Returns the keys of an installation that does not set MASTER_KEY, joined by commas, the current key first. The first
 * start creates the key and stores it in the data directory. The file has one key per line, the current key first.
 *
 * @param hasSecrets whether the stores already contain secrets. A missing file is then an error, and no key is created
 * @throws SettingsError if the file is missing although there are secrets, or does not contain a key
 */
export async function masterKeyIn(dataDir: string, hasSecrets: () => Promise<boolean>): Promise<string> {
  const known = readMasterKey(dataDir);
  if (known !== undefined) return known;
  if (await hasSecrets())
    throw new SettingsError(
      `${keyFile(dataDir)} is missing, and the stores contain secrets. Restore it from your backup, or set ` +
        'MASTER_KEY to the key that encrypted the secrets. A new key cannot decrypt them: nothing was changed.',
    );
  const key = newKey();
  writeKeys(dataDir, [key]);
  return key;
}

/** Returns the keys as `masterKeyIn` does; undefined if there is no file. @throws SettingsError if a line is not a key */
export function readMasterKey(dataDir: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(keyFile(dataDir), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const keys = text.trim().split('\n');
  if (!keys.every((key) => /^[0-9a-f]{64}$/.test(key)))
    throw new SettingsError(
      `${keyFile(dataDir)} is damaged: each line must have 64 hexadecimal characters. Restore it from your backup.`,
    );
  return keys.join(',');
}

/**
 * Adds a new key before the current key. The next start encrypts everything with the new key and removes the old key.
 * @throws SettingsError if there is no key, or if no start has finished the last rotation
 */
export function rotateMasterKey(dataDir: string): void {
  const known = readMasterKey(dataDir);
  if (known === undefined) throw new SettingsError(`${keyFile(dataDir)} is missing: nothing to rotate.`);
  const [present, ...earlier] = masterKeys(known);
  if (earlier.length > 0)
    throw new SettingsError(
      'A rotation is not finished. Start Earshot again to finish it, and then rotate again.',
    );
  writeKeys(dataDir, [newKey(), present]);
}

/** Removes the earlier keys. Call this function after everything has been encrypted with the current key. */
export function dropEarlierKeys(dataDir: string): void {
  const known = readMasterKey(dataDir);
  if (known !== undefined) writeKeys(dataDir, [masterKeys(known)[0]]);
}

/** Returns 32 random bytes in hexadecimal. */
export function newKey(): string {
  return randomBytes(32).toString('hex');
}

function writeKeys(dataDir: string, keys: readonly string[]): void {
  writeDurably(keyFile(dataDir), `${keys.join('\n')}\n`);
}

function keyFile(dataDir: string): string {
  return join(dataDir, 'master.key');
}
