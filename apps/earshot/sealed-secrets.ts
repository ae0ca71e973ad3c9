import { connectBus } from '#messaging';
import { isOnlyKey } from '#platform';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import type { Addresses } from './connection.js';

/** Whether the stores hold anything that was sealed with a MASTER_KEY: accounts in the streams, or Postgres' check. */
export async function holdsSecrets({ natsUrl, databaseUrl }: Addresses): Promise<boolean> {
  const bus = await connectBus(natsUrl, 'host', createLogger('host', 'silent'));
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

/** Whether everything is sealed under this key alone. */
export function isSealedUnder(databaseUrl: string, masterKey: string): Promise<boolean> {
  return onDatabase(databaseUrl, (database) => isOnlyKey(database, masterKey));
}

async function onDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(url, 'host', 1);
  try {
    return await work(database);
  } finally {
    await database.destroy();
  }
}
