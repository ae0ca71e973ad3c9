import pg from 'pg';
import { Outage } from '#kernel';
import { inSpan, isTraced, SpanKind } from '#telemetry';
import { PreparedStatements } from './prepared-statements.js';

type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, release: () => void) => void;

const prepared = new PreparedStatements();

/**
 * A connection that records its statements as spans (their text, without the values of parameters), and prepares
 * frequent statements with parameters. Statements that are run at the same time are sent in one write.
 */
class ServiceClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, pipeline: true });
  }

  override query = ((...args: Parameters<pg.Client['query']>) => {
    const [text, values] = args as unknown[];
    // A query with a callback or for a cursor returns no promise to wait for.
    if (typeof text !== 'string' || typeof args.at(-1) === 'function') return super.query(...args);
    const name = Array.isArray(values) && values.length > 0 ? prepared.nameOf(text) : undefined;
    const statement = name === undefined ? text : { name, text };
    const ask = () => {
      this.corkUntilNextTick();
      return super.query(statement as string, values as unknown[]);
    };
    if (!isTraced()) return ask();
    const attributes = { 'db.system.name': 'postgresql', 'db.query.text': text.slice(0, 500) };
    return inSpan(/\w+/.exec(text)?.[0] ?? 'query', SpanKind.CLIENT, attributes, ask);
  }) as unknown as pg.Client['query'];

  /**
   * Collects all statements that are run before the next tick, and sends them in one write. Each write to a socket is a
   * system call, and these took more than half of the processor time of the keywords service (ADR 38).
   */
  private corkUntilNextTick(): void {
    const { stream } = this.connection;
    stream.cork();
    process.nextTick(() => stream.uncork());
  }
}

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
