import pg from 'pg';
import { Outage } from '#kernel';

type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, release: () => void) => void;

/** A pool whose refused and timed-out connections are outages: pg has no type of its own for them. */
class TellingPool extends pg.Pool {
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

/** pg as TypeORM takes it, with that pool. */
export const pgDriver = { ...pg, Pool: TellingPool };
