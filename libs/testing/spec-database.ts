import { openDatabase, type Database } from '#postgres';
import { isolateStores, type IsolatedStores } from './stores.js';

/** A database in separate stores, for the specs of a file. */
export interface SpecDatabase {
  database: Database;
  stores: IsolatedStores;
  /** Closes the database and drops the stores. */
  drop(): Promise<void>;
}

/** Opens a database in separate stores. */
export async function openSpecDatabase(): Promise<SpecDatabase> {
  const stores = await isolateStores();
  const database = await openDatabase(stores.databaseUrl, 'spec');
  return {
    database,
    stores,
    async drop() {
      await database.destroy();
      await stores.drop();
    },
  };
}
