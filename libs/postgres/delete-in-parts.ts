import type { Database } from './database.js';

const ROWS_OF_A_PART = 5000;

/**
 * Deletes rows in several statements of up to 5000 rows, so that each stays below the statement timeout. Rows that were
 * deleted before a failure stay deleted. Several services can delete at the same time: rows that another transaction
 * has locked are skipped. A row of the last part that changes at the same time can stay until the next call.
 * @param condition an SQL condition; the alias of the table is `s`
 */
export async function deleteInParts(
  database: Database,
  table: string,
  condition: string,
  params: unknown[] = [],
): Promise<void> {
  for (let found = ROWS_OF_A_PART; found === ROWS_OF_A_PART;) {
    // A row that changes after the statement began is found and locked, but not deleted, because the statement does not
    // see its new version. So the number of deleted rows does not tell whether there are more.
    const [part] = await database.query<{ found: number; deleted: number }[]>(
      `WITH part AS MATERIALIZED (
         SELECT s.ctid AS place FROM ${table} s WHERE ${condition} LIMIT ${ROWS_OF_A_PART} FOR UPDATE OF s SKIP LOCKED),
       deleted AS (DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT place FROM part)) RETURNING 1)
       SELECT (SELECT count(*)::int FROM part) AS found, (SELECT count(*)::int FROM deleted) AS deleted`,
      params,
    );
    // If no row of a part can be deleted, a further part would find the same rows.
    found = part && part.deleted > 0 ? part.found : 0;
  }
}
