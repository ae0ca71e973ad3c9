import type { Database } from './database.js';

const ROWS_OF_A_PART = 5000;

/**
 * Deletes rows in several statements, so that no statement exceeds the statement timeout. Rows that were deleted before
 * a failure stay deleted. Several services can delete at the same time: rows that another transaction has locked are
 * skipped.
 * @param condition an SQL condition; the alias of the table is `s`
 */
export async function deleteInParts(
  database: Database,
  table: string,
  condition: string,
  params: unknown[] = [],
): Promise<void> {
  for (let deleted = ROWS_OF_A_PART; deleted === ROWS_OF_A_PART;)
    [, deleted] = await database.query<[unknown, number]>(
      `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
         SELECT s.ctid FROM ${table} s WHERE ${condition} LIMIT ${ROWS_OF_A_PART} FOR UPDATE OF s SKIP LOCKED))`,
      params,
    );
}
