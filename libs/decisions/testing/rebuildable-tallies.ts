import type { RebuildableProjection } from '#projections';
import { tally } from './tallies.js';

// Only for specs: tables and projections that can be rebuilt.

/**
 * The tables `owners` and `tallies`, with columns, constraints, indexes and grants that a rebuild must keep; and the
 * table `visits`, whose rows a rebuild keeps. A rebuild adds to it only the messages that were not applied before.
 */
export const REBUILDABLE_TABLES = `
  CREATE TABLE owners (owner text PRIMARY KEY);
  CREATE TABLE tallies (id text PRIMARY KEY, owner text NOT NULL REFERENCES owners ON DELETE CASCADE, total integer NOT NULL CHECK (total >= 0),
    notes text NOT NULL, seen integer NOT NULL DEFAULT 0);
  CREATE INDEX tallies_total ON tallies (owner, total) WHERE total > 1;
  CREATE TABLE visits (id text NOT NULL, amount integer NOT NULL);
  GRANT SELECT ON tallies TO PUBLIC`;

/** Returns the separator that a version writes between the amounts of `notes`. */
export const separatorOf = (version: number) => (version === 1 ? ' ' : '+');

/**
 * Returns a version of the projection of tallies, over tables that can be rebuilt. It cannot apply the amount `poison`.
 */
export function tallies(version: number, poison?: number): RebuildableProjection {
  return {
    name: 'tallies-v1',
    stream: 'KEYWORDS',
    version,
    rebuild: {
      tables: ['tallies', 'owners'],
      untouched: ['visits'],
      kept: [{ table: 'tallies', key: 'id', columns: ['seen'] }],
      async forget(tx, subjects) {
        await tx.query('DELETE FROM tallies WHERE id = ANY ($1)', [
          subjects.map((one) => one.split('.').at(-1)),
        ]);
      },
    },
    async apply(tx, messages) {
      for (const { data, subject } of messages) {
        const { id, events } = tally.decode(data);
        const owner = subject.split('.')[1];
        for (const { amount } of events) {
          if (amount === poison) throw new Error('cannot be read');
          await tx.query('INSERT INTO owners VALUES ($1) ON CONFLICT DO NOTHING', [owner]);
          await tx.query('INSERT INTO visits VALUES ($1, $2)', [id, amount]);
          await tx.query(
            `INSERT INTO tallies VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO UPDATE
             SET total = tallies.total + $3, notes = tallies.notes || $5 || $4`,
            [id, owner, amount, String(amount), separatorOf(version)],
          );
        }
      }
    },
  };
}
