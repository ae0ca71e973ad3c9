import type { Tx } from '#postgres';
import { versionOf, type Projection, type Rebuildable } from './projection.js';

/** Returns the schema in which the tables of a projection are rebuilt. */
export function schemaBeside({ name }: Pick<Projection, 'name'>): string {
  return `rebuild_${name.replace(/\W/g, '_')}`;
}

/**
 * Makes the following statements of the transaction use the tables that are being built.
 * @param schema what `schemaBeside` returns
 */
export async function useTablesBeside(tx: Tx, schema: string): Promise<void> {
  // Keeps the session's own search path, so that functions and all other tables are found as before.
  await tx.query(
    `SELECT set_config('search_path', $1 || ', ' || (SELECT reset_val FROM pg_settings WHERE name = 'search_path'), true)`,
    [schema],
  );
}

/** The reasons why the exchange of a table for a new one would lose something. */
const OBSTACLES = `
  SELECT 'it has the trigger ' || tgname AS reason FROM pg_trigger WHERE tgrelid = $1::regclass AND NOT tgisinternal
  UNION ALL SELECT 'it has row security' FROM pg_class WHERE oid = $1::regclass AND relrowsecurity
  UNION ALL SELECT 'it is partitioned or not a table' FROM pg_class WHERE oid = $1::regclass AND relkind <> 'r'
  UNION ALL SELECT 'it inherits from another table, or another table inherits from it' FROM pg_inherits WHERE $1::regclass IN (inhrelid, inhparent)
  UNION ALL SELECT 'it is part of the publication ' || p.pubname FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid
    WHERE r.prrelid = $1::regclass
  UNION ALL SELECT 'the view ' || v.ev_class::regclass || ' reads it' FROM pg_depend d JOIN pg_rewrite v ON v.oid = d.objid
    WHERE d.classid = 'pg_rewrite'::regclass AND d.refobjid = $1::regclass AND v.ev_class <> $1::regclass
  UNION ALL SELECT 'the table ' || conrelid::regclass || ' refers to it' FROM pg_constraint
    WHERE confrelid = $1::regclass AND contype = 'f' AND conrelid <> ALL ($2::regclass[])
  UNION ALL SELECT 'the column ' || a.attname || ' takes its default from a sequence' FROM pg_depend d
    JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S' JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
    WHERE d.refobjid = $1::regclass AND a.attidentity = ''`;

/**
 * Creates empty tables beside the live ones, with the same columns, constraints, indexes, names and grants, and with
 * separate positions. Drops the remains of an earlier attempt.
 * @throws Error that names what prevents the exchange of a table
 */
export async function createTablesBeside(tx: Tx, projection: Projection, parts: Rebuildable): Promise<void> {
  const schema = schemaBeside(projection);
  const { tables, untouched = [] } = parts;
  for (const table of tables) {
    const obstacles: { reason: string }[] = await tx.query(`SELECT DISTINCT reason FROM (${OBSTACLES}) o`, [
      table,
      tables,
    ]);
    if (obstacles.length > 0)
      throw new Error(
        `${projection.name} cannot be rebuilt beside its table ${table}: ${obstacles.map(({ reason }) => reason).join('; ')}. ` +
          'Remove this obstacle, rebuild, and restore it if you need it.',
      );
  }
  await tx.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  await tx.query(`CREATE SCHEMA ${schema}`);
  const definitions: string[] = [];
  for (const table of [...tables, ...untouched, 'projection_positions', 'projection_versions']) {
    await tx.query(`CREATE TABLE ${schema}.${table} (LIKE ${table} INCLUDING ALL EXCLUDING INDEXES)`);
    definitions.push(...(await definitionsOf(tx, schema, table)));
  }
  await useTablesBeside(tx, schema);
  // Foreign keys come last, because they need the keys of the tables that they refer to.
  for (const definition of definitions.filter((one) => !one.includes(' FOREIGN KEY ')))
    await tx.query(definition);
  for (const definition of definitions.filter((one) => one.includes(' FOREIGN KEY ')))
    await tx.query(definition);
  await tx.query('INSERT INTO projection_versions (projection, version) VALUES ($1, $2)', [
    projection.name,
    versionOf(projection),
  ]);
}

/** Statements that give the new table what `LIKE` leaves out: keys, indexes, grants, owner, storage parameters. */
async function definitionsOf(tx: Tx, schema: string, table: string): Promise<string[]> {
  const rows: { statement: string }[] = await tx.query(
    `SELECT format('ALTER TABLE %I.%I ADD CONSTRAINT %I %s', $2::text, $3::text, conname, pg_get_constraintdef(oid)) AS statement
     FROM pg_constraint WHERE conrelid = $1::regclass AND contype IN ('p', 'u', 'x', 'f')
     UNION ALL
     SELECT replace(pg_get_indexdef(i.indexrelid), format(' ON %I.%I USING ', n.nspname, c.relname),
       format(' ON %I.%I USING ', $2::text, $3::text))
     FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE i.indrelid = $1::regclass AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid
       AND k.conrelid = i.indrelid)
     UNION ALL
     SELECT format('ALTER TABLE %I.%I SET (%s)', $2::text, $3::text, array_to_string(reloptions, ', '))
     FROM pg_class WHERE oid = $1::regclass AND reloptions IS NOT NULL
     UNION ALL
     SELECT format('GRANT %s ON %I.%I TO %s%s', privilege_type, $2::text, $3::text,
       CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END, CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
     FROM pg_class, aclexplode(relacl) WHERE oid = $1::regclass
     UNION ALL
     SELECT format('ALTER TABLE %I.%I OWNER TO %s', $2::text, $3::text, relowner::regrole)
     FROM pg_class WHERE oid = $1::regclass AND pg_get_userbyid(relowner) <> current_user`,
    [table, schema, table],
  );
  return rows.map(({ statement }) => statement);
}

/**
 * Waits until no other transaction uses these tables or the positions of projections. Then no other transaction can use
 * them until this one ends.
 * @param waitMs maximum time for each lock, in ms. Then Postgres returns the error 55P03 (lock not available), and the
 *   rebuild gives up before Postgres looks for deadlocks
 */
export async function lockLiveTables(tx: Tx, tables: readonly string[], waitMs: number): Promise<void> {
  await tx.query(`SET LOCAL lock_timeout = ${waitMs}`);
  // Locks the positions first, as all other writers do: a command that has read a position finishes before the tables
  // are locked.
  await tx.query('LOCK TABLE projection_positions IN ACCESS EXCLUSIVE MODE');
  await tx.query(`LOCK TABLE ${tables.join(', ')} IN ACCESS EXCLUSIVE MODE`);
}

/**
 * Copies values from the old rows to the new rows if the stream does not determine these values. Keeps the rows that
 * the stream no longer contains, for the tables with `rows`.
 */
export async function keepFromLive(
  tx: Tx,
  live: string,
  schema: string,
  { kept = [] }: Rebuildable,
): Promise<void> {
  const list = (columns: readonly string[], of: string) =>
    columns.map((column) => `${of}.${column}`).join(', ');
  for (const { table, key, columns, rows } of kept) {
    await tx.query(
      `UPDATE ${schema}.${table} AS fresh SET (${columns.join(', ')}) = ROW (${list(columns, 'old')})
       FROM ${live}.${table} AS old
       WHERE fresh.${key} = old.${key} AND (${list(columns, 'fresh')}) IS DISTINCT FROM (${list(columns, 'old')})`,
    );
    if (rows)
      await tx.query(`INSERT INTO ${schema}.${table} SELECT * FROM ${live}.${table} ON CONFLICT DO NOTHING`);
  }
}

/** Replaces the old tables by the new ones, drops the old ones, and moves the positions forward. */
export async function switchTables(
  tx: Tx,
  live: string,
  projection: Projection,
  parts: Rebuildable,
): Promise<void> {
  const schema = schemaBeside(projection);
  // Subjects that the stream no longer contains keep their old position.
  await tx.query(
    `INSERT INTO ${live}.projection_positions SELECT * FROM ${schema}.projection_positions
     ON CONFLICT (projection, subject) DO UPDATE SET seq = greatest(projection_positions.seq, excluded.seq)`,
  );
  for (const table of parts.tables) await tx.query(`DROP TABLE ${live}.${table}`);
  for (const table of parts.tables) await tx.query(`ALTER TABLE ${schema}.${table} SET SCHEMA ${live}`);
  await tx.query(
    `INSERT INTO ${live}.projection_versions (projection, version) VALUES ($1, $2)
     ON CONFLICT (projection) DO UPDATE SET version = excluded.version, built_at = now()`,
    [projection.name, versionOf(projection)],
  );
  await tx.query(`DROP SCHEMA ${schema} CASCADE`);
}
