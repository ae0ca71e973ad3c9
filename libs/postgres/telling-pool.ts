import pg from 'pg';
import { Outage } from '#kernel';
import { inSpan, isTraced, SpanKind } from '#telemetry';
import { PreparedStatements } from './prepared-statements.js';

type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, release: () => void) => void;

const prepared = new PreparedStatements();

/**
 * A connection whose statements are spans: their text, without the values of parameters. Statements with parameters that are
 * run often are prepared.
 */
class ServiceClient extends pg.Client {
  override query = ((...args: Parameters<pg.Client['query']>) => {
    const [text, values] = args as unknown[];
    // With a callback, or for a cursor, there is nothing to wait for.
    if (typeof text !== 'string' || typeof args.at(-1) === 'function') return super.query(...args);
    const name = Array.isArray(values) && values.length > 0 ? prepared.nameOf(text) : undefined;
    const statement = name === undefined ? text : { name, text };
    const ask = () => super.query(statement as string, values as unknown[]);
    if (!isTraced()) return ask();
    const attributes = { 'db.system.name': 'postgresql', 'db.query.text': text.slice(0, 500) };
    return inSpan(/\w+/.exec(text)?.[0] ?? 'query', SpanKind.CLIENT, attributes, ask);
  }) as unknown as pg.Client['query'];
}

/** A pool whose refused and timed-out connections are outages: pg has no type of its own for them. */
class TellingPool extends pg.Pool {
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

/** pg as TypeORM takes it, with that pool. */
export const pgDriver = { ...pg, Pool: TellingPool };
