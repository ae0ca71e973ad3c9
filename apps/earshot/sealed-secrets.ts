import { connectBus } from '#messaging';
import { isOnlyKey } from '#platform';
import { AccountEntity, openDatabase, type Database } from '#postgres';
import { SecretBox } from '#secrets';
import { createLogger } from '#telemetry';
import type { Addresses } from './connection.js';

/**
 * Returns whether the stores contain data that is encrypted with a MASTER_KEY: accounts in the streams, or the check
 * value in Postgres.
 */
export async function holdsSecrets(
  { natsUrl, databaseUrl }: Addresses,
  streamReplicas: number,
): Promise<boolean> {
  const bus = await connectBus(natsUrl, 'host', createLogger('host', 'silent'), streamReplicas);
  try {
    const { state } = await bus.jsm.streams.info('ACCOUNTS');
    if (state.messages > 0) return true;
  } finally {
    await bus.close();
  }
  return onDatabase(databaseUrl, async (database) => {
    const checks: unknown[] = await database.query('SELECT 1 FROM installation');
    return checks.length > 0;
  });
}

/**
 * Returns whether all secrets of the installation are encrypted with this key; false before the first start. If
 * `masterKey` contains several keys, see `isOnlyKey`.
 */
export function isSealedUnder(databaseUrl: string, masterKey: string): Promise<boolean> {
  return onDatabase(databaseUrl, (database) => isOnlyKey(database, masterKey));
}

/**
 * Returns the current secret that signs an account's webhooks; undefined until Postgres contains the account.
 * @param env DATABASE_URL and MASTER_KEY of the installation
 * @throws Error if no key of MASTER_KEY decrypts the secret
 */
export function presentSigningSecret(env: NodeJS.ProcessEnv, accountId: string): Promise<string | undefined> {
  return onDatabase(env.DATABASE_URL ?? '', async (database) => {
    const account = await database.getRepository(AccountEntity).findOneBy({ accountId });
    return account ? new SecretBox(env.MASTER_KEY ?? '').open(account.signingSecretEncrypted) : undefined;
  });
}

async function onDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(url, 'host', 1);
  try {
    return await work(database);
  } finally {
    await database.destroy();
  }
}
