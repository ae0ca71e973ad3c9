import { predecessorOf } from '#event-store';
import { batchesOf, type Bus } from '#messaging';
import { transactionWithoutLimit, type Database } from '#postgres';
import { applyOnce, type Projection } from './projection.js';

/**
 * Empties the projection's tables and fills them from its stream, in one transaction: readers see the old rows until it
 * ends, and commands wait for it.
 * @returns how many messages were applied
 */
export function rebuildProjection(
  database: Database,
  bus: Bus,
  projection: Projection & { tables: readonly string[] },
): Promise<number> {
  return transactionWithoutLimit(database, async (tx) => {
    // The positions first, as everybody takes them: a transaction that holds one finishes before we go on.
    await tx.query('LOCK TABLE projection_positions IN EXCLUSIVE MODE');
    for (const table of projection.tables) await tx.query(`DELETE FROM ${table}`);
    await tx.query('DELETE FROM projection_positions WHERE projection = $1', [projection.name]);
    let applied = 0;
    for await (const batch of batchesOf(bus, projection.stream))
      for (const { subject, seq, data, header } of batch) {
        const message = { subject, seq, data, predecessor: predecessorOf(header) ?? 0 };
        if ((await applyOnce(tx, projection, message)) === 'applied') applied += 1;
      }
    return applied;
  });
}
