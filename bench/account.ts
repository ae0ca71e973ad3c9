import { newId } from '#kernel';
import type { Database } from '#postgres';
import { hashApiKey, newApiKey, newSigningSecret, SecretBox } from '#secrets';
import { MASTER_KEY } from './program.js';

/** An account of a bench, with a read key. */
export interface BenchAccount {
  accountId: string;
  apiKey: string;
}

/** Writes an account directly into the tables, without the billing service. */
export async function openBenchAccount(database: Database, plan = 'unlimited'): Promise<BenchAccount> {
  const [accountId, apiKey] = [newId(), newApiKey()];
  await database.query(
    `INSERT INTO accounts (account_id, email, plan, signing_secret_encrypted, created_at)
     VALUES ($1, $2, $3, $4, now())`,
    [accountId, `${accountId}@example.org`, plan, new SecretBox(MASTER_KEY).seal(newSigningSecret())],
  );
  await database.query(
    `INSERT INTO api_keys (key_id, account_id, name, key_hash, scope, created_at) VALUES ($1, $2, 'bench', $3, 'read', now())`,
    [newId(), accountId, hashApiKey(apiKey)],
  );
  return { accountId, apiKey };
}
