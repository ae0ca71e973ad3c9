import pg from 'pg';
import { Outage } from '#kernel';
import { ServiceClient } from './service-client.js';

type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, release: () => void) => void;

/** A pool that reports every failure to connect as an outage. pg has no error type for such failures. */
class OutagePool extends pg.Pool {
  constructor(options?: pg.PoolConfig) {
    super({ ...options, Client: ServiceClient });
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | void {
    if (!callback)
      return super.connect().catch((error: unknown) => {
        throw new Outage('Postgres', error);
      });
    super.connect((error, client, release) =>
      callback(error && new Outage('Postgres', error), client, release),
    );
  }
}

/** The pg driver for TypeORM, with this pool. */
export const pgDriver = { ...pg, Pool: OutagePool };
