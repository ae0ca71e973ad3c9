/**
 * After a failed statement, Postgres refuses each further statement of the transaction with 25P02. If the failed
 * transaction also kept a statement from being prepared, Postgres refuses the next run of that statement with 26000.
 */
const CONSEQUENCES = ['25P02', '26000'];

import type { Database, Tx } from './database.js';

/**
 * Waits for statements of one transaction that do not need each other's results. Each member can consist of several
 * statements. Postgres gets the first statement of each member in one write, and runs these statements in the order of
 * the members. Waits for all members even if one fails, so that no statement runs after the end of the transaction.
 * @throws the error that made the transaction fail
 */
export async function together<T extends readonly unknown[]>(
  statements: readonly [...{ [K in keyof T]: Promise<T[K]> }],
): Promise<T> {
  const results = await Promise.allSettled(statements);
  const errors = results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  );
  if (errors.length > 0) throw errors.find((error) => !isConsequence(error)) ?? errors[0];
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as unknown as T;
}

/** Runs reads that do not need each other's results on one connection, so that one write sends them all. */
export async function readTogether<T extends readonly unknown[]>(
  database: Database,
  reads: (connection: Tx) => readonly [...{ [K in keyof T]: Promise<T[K]> }],
): Promise<T> {
  const runner = database.createQueryRunner();
  try {
    return await together(reads(runner.manager));
  } finally {
    await runner.release();
  }
}

function isConsequence(error: unknown): boolean {
  return CONSEQUENCES.includes((error as { code?: string }).code ?? '');
}
