import { fileURLToPath } from 'node:url';
import { DataSource } from 'typeorm';
import type { Clock } from '#kernel';
import { checkout, type IsolatedStores } from '#testing';

const PRELOAD = fileURLToPath(new URL('test/virtual-clock.mjs', checkout));

/** A clock for programs, database and simulator that runs faster than the machine's clock. */
export class VirtualClock implements Clock {
  private readonly epochMs = Date.now();

  /** @param speed virtual seconds per real second */
  constructor(private readonly speed: number) {}

  now(): Date {
    return new Date(this.epochMs + (Date.now() - this.epochMs) * this.speed);
  }

  /** The environment of programs that use this clock. */
  get env(): NodeJS.ProcessEnv {
    return {
      NODE_OPTIONS: `--import=${PRELOAD}`,
      VIRTUAL_EPOCH_MS: String(this.epochMs),
      VIRTUAL_SPEED: String(this.speed),
    };
  }

  /**
   * Makes new connections of the database use this clock. Postgres finds the function `now()` of this clock before its
   * own function.
   */
  async applyTo({ databaseUrl }: IsolatedStores): Promise<void> {
    const database = await new DataSource({ type: 'postgres', url: databaseUrl }).initialize();
    const name = new URL(databaseUrl).pathname.slice(1);
    const epoch = `to_timestamp(${this.epochMs / 1000})`;
    await database.query(`
      CREATE SCHEMA virtual;
      CREATE FUNCTION virtual.now() RETURNS timestamptz LANGUAGE sql STABLE AS
        $$ SELECT ${epoch} + (pg_catalog.now() - ${epoch}) * ${this.speed} $$;
      ALTER DATABASE "${name}" SET search_path = public, virtual, pg_catalog`);
    await database.destroy();
  }
}
