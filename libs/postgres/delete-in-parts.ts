import type { Database } from './database.js';

const ROWS_OF_A_PART = 5000;

/**
 * Deletes rows that nobody needs any more. Each statement deletes a part, so that none takes longer than statements may,
 * and a failure keeps what is deleted already. Several services can do it at the same time.
 * @param condition SQL on the table, whose name there is `s`
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
