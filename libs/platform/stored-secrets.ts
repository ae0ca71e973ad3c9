import { AccountEntity, type Database } from '#postgres';

/** The encrypted secrets of one account or channel. */
export interface StoredSecrets {
  id: string;
  secrets: Buffer[];
}

/** Returns the encrypted secrets of all accounts, and of the channels that have a secret, from Postgres. */
export async function storedSecrets(
  database: Database,
): Promise<{ accounts: StoredSecrets[]; channels: StoredSecrets[] }> {
  const accounts = await database.getRepository(AccountEntity).find();
  const channels: { channel_id: string; secret_encrypted: Buffer }[] = await database.query(
    'SELECT channel_id, secret_encrypted FROM channels WHERE secret_encrypted IS NOT NULL',
  );
  return {
    accounts: accounts.map(({ accountId, signingSecretEncrypted, previousSigningSecretEncrypted }) => ({
      id: accountId,
      secrets: [signingSecretEncrypted, previousSigningSecretEncrypted].filter((secret) => secret !== null),
    })),
    channels: channels.map((row) => ({ id: row.channel_id, secrets: [row.secret_encrypted] })),
  };
}
