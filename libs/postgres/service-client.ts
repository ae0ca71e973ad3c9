import pg from 'pg';
import { inSpan, isTraced, SpanKind } from '#telemetry';
import { FirstStatement, START } from './first-statement.js';
import { PreparedStatements } from './prepared-statements.js';

const END_OF_TRANSACTION = new Set(['COMMIT', 'ROLLBACK']);
/** The result of a statement that was not sent. */
const NOTHING = { command: '', rowCount: 0, oid: 0, fields: [], rows: [] };

const prepared = new PreparedStatements();

/**
 * A connection that records its statements as spans (their text, without the values of parameters), and prepares
 * frequent statements with parameters. Statements that are run at the same time are sent in one write. START
 * TRANSACTION is sent in one write with the first statement of the transaction.
 */
export class ServiceClient extends pg.Client {
  /** True after START TRANSACTION until the first statement, which starts the transaction. */
  private isStarting = false;

  constructor(config?: pg.ClientConfig) {
    super({ ...config, pipeline: true });
  }

  override query = ((...args: Parameters<pg.Client['query']>) => {
    const [text, values] = args as unknown[];
    // A query with a callback or for a cursor returns no promise to wait for.
    if (typeof text !== 'string' || typeof args.at(-1) === 'function') {
      if (this.isStarting) throw new Error('the first statement of a transaction must be a text');
      return super.query(...args);
    }
    if (text === START.text && this.hasPreparedStart()) {
      this.isStarting = true;
      return Promise.resolve(NOTHING);
    }
    const isFirst = this.isStarting;
    this.isStarting = false;
    if (isFirst && END_OF_TRANSACTION.has(text)) return Promise.resolve(NOTHING);
    const ask = () => {
      this.corkUntilNextTick();
      return this.send(text, Array.isArray(values) ? values : [], isFirst);
    };
    if (!isTraced()) return ask();
    const attributes = { 'db.system.name': 'postgresql', 'db.query.text': text.slice(0, 500) };
    return inSpan(/\w+/.exec(text)?.[0] ?? 'query', SpanKind.CLIENT, attributes, ask);
  }) as unknown as pg.Client['query'];

  private async send(text: string, values: unknown[], isFirst: boolean): Promise<unknown> {
    if (values.length === 0) {
      if (!isFirst) return super.query(text === START.text ? START : text);
      // One message with several statements: if START TRANSACTION fails, Postgres does not run the others.
      const results: unknown = await super.query(`${START.text}; ${text}`);
      const [, ...own] = results as unknown[];
      return own.length === 1 ? own[0] : own;
    }
    const name = prepared.nameOf(text);
    const statement = name === undefined ? { text, values } : { name, text, values };
    if (!isFirst) return super.query(statement);
    return new Promise((resolve, reject) => {
      super.query(
        new FirstStatement(statement, (error, result) => (error ? reject(error) : resolve(result))),
      );
    });
  }

  private hasPreparedStart(): boolean {
    const { parsedStatements } = this.connection as unknown as { parsedStatements: object };
    return Object.hasOwn(parsedStatements, START.name);
  }

  /** A write to a socket takes longer than most statements, so statements that need no earlier result share a write. */
  private corkUntilNextTick(): void {
    const { stream } = this.connection;
    stream.cork();
    process.nextTick(() => stream.uncork());
  }
}
