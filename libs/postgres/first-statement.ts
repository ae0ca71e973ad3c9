import pg from 'pg';

/** START TRANSACTION as a prepared statement, because `FirstStatement` sends only its name. */
export const START = { name: 'earshot_start', text: 'START TRANSACTION' };

type Callback = (error: Error | null, result: pg.QueryResult) => void;

/** The methods of pg's connection that send messages. `@types/pg` does not declare them. */
interface Messages {
  bind(message: { portal: string; statement: string; values: unknown[] }): void;
  execute(message: { portal: string }): void;
}

/** The methods of pg's queries that `FirstStatement` changes. `@types/pg` does not declare them. */
interface Steps extends pg.Submittable {
  prepare(connection: Messages): void;
  handleCommandComplete(message: unknown, connection: unknown): void;
}

const Query = pg.Query as unknown as new (
  config: pg.QueryConfig,
  values: unknown,
  callback: Callback,
) => Steps;

/**
 * The first statement of a transaction, with parameters. Sends START TRANSACTION in the same write. Postgres gets one
 * Sync after both, so it skips the statement if START TRANSACTION fails: the statement never runs without a
 * transaction. The connection must have prepared `START` before.
 * Source: https://www.postgresql.org/docs/15/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
export class FirstStatement extends Query {
  private hasStarted = false;

  constructor(statement: pg.QueryConfig, callback: Callback) {
    super(statement, undefined, callback);
  }

  override prepare(connection: Messages): void {
    connection.bind({ portal: '', statement: START.name, values: [] });
    connection.execute({ portal: '' });
    super.prepare(connection);
  }

  override handleCommandComplete(message: unknown, connection: unknown): void {
    // Postgres completes START TRANSACTION first.
    if (this.hasStarted) super.handleCommandComplete(message, connection);
    this.hasStarted = true;
  }
}
