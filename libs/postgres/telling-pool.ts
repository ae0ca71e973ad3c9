import pg from 'pg';
import { Outage } from '#kernel';
import { inSpan, isTraced, SpanKind } from '#telemetry';

type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, release: () => void) => void;

/** A connection whose statements are spans: their text, without the values of parameters. */
class TracedClient extends pg.Client {
  override query = ((...args: Parameters<pg.Client['query']>) => {
    const [statement] = args as unknown[];
    const ask = () => super.query(...args) as unknown as Promise<unknown>;
    // With a callback, or for a cursor, there is nothing to wait for.
    if (!isTraced() || typeof statement !== 'string' || typeof args.at(-1) === 'function') return ask();
    const attributes = { 'db.system.name': 'postgresql', 'db.query.text': statement.slice(0, 500) };
    return inSpan(/\w+/.exec(statement)?.[0] ?? 'query', SpanKind.CLIENT, attributes, ask);
  }) as unknown as pg.Client['query'];
}

/** A pool whose refused and timed-out connections are outages: pg has no type of its own for them. */
class TellingPool extends pg.Pool {
  constructor(options?: pg.PoolConfig) {
    super({ ...options, Client: TracedClient });
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

/** pg as TypeORM takes it, with that pool. */
export const pgDriver = { ...pg, Pool: TellingPool };
