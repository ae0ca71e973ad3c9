import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { SettingsError } from '#config';
import { masterKeys } from '#secrets';

/**
 * The MASTER_KEY of an installation that was given none: made at the first start and kept in its data directory, one
 * key a line, the present one first.
 *
 * @param hasSecrets whether the stores hold secrets already: then a missing key is never made anew
 * @throws SettingsError when the file is missing beside secrets, or is no key
 */
export async function masterKeyIn(dataDir: string, hasSecrets: () => Promise<boolean>): Promise<string> {
  const known = readMasterKey(dataDir);
  if (known !== undefined) return known;
  if (await hasSecrets())
    throw new SettingsError(
      `${keyFile(dataDir)} is missing, and the stores hold secrets that were sealed with it. ` +
        'Put it back from your backup, or set MASTER_KEY. A new key cannot open them: nothing was changed.',
    );
  const key = newKey();
  writeKeys(dataDir, [key]);
  return key;
}

/** As `masterKeyIn` returns it; undefined when there is none. @throws SettingsError when the file is no key */
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
      `${keyFile(dataDir)} is damaged: 64 hexadecimal characters are wanted. Put it back from your backup.`,
    );
  return keys.join(',');
}

/**
 * Puts a new key before the present one. The next start seals everything under the new one and drops the old one.
 * @throws SettingsError when there is no key, or when the last rotation was not finished by a start
 */
export function rotateMasterKey(dataDir: string): void {
  const known = readMasterKey(dataDir);
  if (known === undefined) throw new SettingsError(`${keyFile(dataDir)} is missing: nothing to rotate.`);
  const [present, ...earlier] = masterKeys(known);
  if (earlier.length > 0)
    throw new SettingsError(
      'A rotation is under way: start Earshot again, which finishes it, before the next one.',
    );
  writeKeys(dataDir, [newKey(), present]);
}

/** Once everything is sealed under the present key. */
export function dropEarlierKeys(dataDir: string): void {
  const known = readMasterKey(dataDir);
  if (known !== undefined) writeKeys(dataDir, [masterKeys(known)[0]]);
}

/** 32 random bytes in hexadecimal. */
export function newKey(): string {
  return randomBytes(32).toString('hex');
}

/** On the disk before the old file goes: a key that is lost cannot be had again. */
function writeKeys(dataDir: string, keys: readonly string[]): void {
  const fresh = `${keyFile(dataDir)}.new`;
  const fd = openSync(fresh, 'w', 0o600);
  try {
    writeSync(fd, `${keys.join('\n')}\n`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(fresh, keyFile(dataDir));
  const directory = openSync(dataDir, 'r');
  fsyncSync(directory);
  closeSync(directory);
}

function keyFile(dataDir: string): string {
  return join(dataDir, 'master.key');
}
