import { SettingsError } from '#config';
import type { Database } from '#postgres';
import { SecretBox } from '#secrets';

const SEALED = 'earshot';

/**
 * Makes sure that the key opens what this installation has sealed. Under another one no webhook could be signed, and
 * every event would be set aside. The first start leaves the value that later ones are checked by.
 * @throws SettingsError
 */
export async function checkMasterKey(database: Database, masterKey: string): Promise<void> {
  const box = new SecretBox(masterKey);
  await database.query('INSERT INTO installation (key_check) VALUES ($1) ON CONFLICT DO NOTHING', [
    box.seal(SEALED),
  ]);
  const [row] = await database.query<{ key_check: Buffer }[]>('SELECT key_check FROM installation');
  if (row && opens(box, row.key_check)) return;
  throw new SettingsError(
    "Settings are wrong:\n  MASTER_KEY: is not the key that this installation's secrets were sealed with",
  );
}

function opens(box: SecretBox, sealed: Buffer): boolean {
  try {
    return box.open(sealed) === SEALED;
  } catch {
    return false;
  }
}
