import { fromBinary } from '@bufbuild/protobuf';
import { SettingsError } from '#config';
import { AccountDecisionSchema, type AccountDecision } from '#contracts';
import type { EventStore } from '#event-store';
import { getMessage, untilAnswered } from '#messaging';
import type { Database } from '#postgres';
import { masterKeys, reportKeys, SecretBox } from '#secrets';
import type { Platform } from './platform.js';
import { storedSecrets } from './stored-secrets.js';

const SEALED = 'earshot';

/**
 * Checks that the key can decrypt this installation's secrets. With another key, no webhook could be signed. The first
 * start stores an encrypted value, and later starts must be able to decrypt it. If Postgres is empty and the streams
 * are not, the key must be able to decrypt the signing secret of the first account in the streams.
 * @throws SettingsError if the key cannot decrypt the value or the signing secret
 */
export async function checkMasterKey(
  { database, store, bus }: Pick<Platform, 'database' | 'store' | 'bus'>,
  masterKey: string,
): Promise<void> {
  const box = new SecretBox(masterKey);
  let check = await keyCheckOf(database);
  if (!check) {
    const secret = await untilAnswered(async () => {
      const first = await getMessage(bus, 'ACCOUNTS', { seq: 1, next_by_subj: 'accounts.>' });
      return first && signingSecretOf(store, first.subject);
    });
    if (secret?.length && !opens(box, secret)) throw wrongKey();
    const sealed = box.seal(SEALED);
    await database.query('INSERT INTO installation (key_check) VALUES ($1) ON CONFLICT DO NOTHING', [sealed]);
    check = await keyCheckOf(database);
  }
  if (check && !opens(box, check, SEALED)) throw wrongKey();
}

/**
 * Stores the value for later checks (`checkMasterKey`), encrypted with the current key, if every secret is encrypted
 * with that key. Billing and delivery call this function after each has encrypted its secrets, so the service that
 * finishes last stores the value.
 */
export async function renewKeyCheck(database: Database, box: SecretBox): Promise<void> {
  const { accounts, channels } = await storedSecrets(database);
  const secrets = [...accounts, ...channels].flatMap((one) => one.secrets);
  if (!secrets.every((secret) => isCurrent(box, secret))) return;
  await database.query('UPDATE installation SET key_check = $1', [box.seal(SEALED)]);
}

/** Stores the present key of report addresses, for analysis, which has no MASTER_KEY. */
export async function shareReportKey(database: Database, masterKey: string): Promise<void> {
  await database.query('UPDATE installation SET report_key = $1 WHERE report_key IS DISTINCT FROM $1', [
    reportKeys(masterKeys(masterKey)[0]),
  ]);
}

/** Returns the key of report addresses; undefined before a service with MASTER_KEY has started. */
export async function sharedReportKey(database: Database): Promise<string | undefined> {
  const [row] = await database.query<{ report_key: string | null }[]>('SELECT report_key FROM installation');
  return row?.report_key ?? undefined;
}

/**
 * Returns whether all secrets of this installation are encrypted with this key; false before the first start. After a
 * rotation, this is the case when `renewKeyCheck` has stored the value.
 * @param masterKey the newest key alone: with several keys, the result says only that one of them fits
 */
export async function isOnlyKey(database: Database, masterKey: string): Promise<boolean> {
  const check = await keyCheckOf(database);
  return check !== undefined && opens(new SecretBox(masterKey), check, SEALED);
}

async function keyCheckOf(database: Database): Promise<Buffer | undefined> {
  const [row] = await database.query<{ key_check: Buffer }[]>('SELECT key_check FROM installation');
  return row?.key_check;
}

/** Returns the account's current signing secret, encrypted, from its stream; undefined if the stream has none. */
async function signingSecretOf(store: EventStore, subject: string): Promise<Uint8Array | undefined> {
  const decisions = await store.read('ACCOUNTS', subject);
  return decisions
    .flatMap(({ data }): AccountDecision['events'] => fromBinary(AccountDecisionSchema, data).events)
    .map(({ event }) =>
      event.case === 'accountOpened' ||
      event.case === 'signingSecretRotated' ||
      event.case === 'secretsResealed'
        ? event.value.signingSecretEncrypted
        : undefined,
    )
    .findLast((secret) => secret !== undefined);
}

function opens(box: SecretBox, sealed: Uint8Array, expected?: string): boolean {
  try {
    const text = box.open(sealed);
    return expected === undefined || text === expected;
  } catch {
    return false;
  }
}

/** Returns whether the current key has encrypted the secret; false if no key of the box decrypts it. */
function isCurrent(box: SecretBox, sealed: Uint8Array): boolean {
  try {
    return box.reseal(sealed) === undefined;
  } catch {
    return false;
  }
}

function wrongKey(): SettingsError {
  return new SettingsError(
    "Settings are wrong:\n  MASTER_KEY: is not the key that this installation's secrets were encrypted with. " +
      'Put the right key back (MASTER_KEY, or master.key in DATA_DIR) from your backup',
  );
}
