/**
 * Locks the searches and the schedule before a migration copies the schedule. The migration needs both locks, because
 * at its end it adds a foreign key from the schedule to the searches. Pollers of the running release lock searches
 * before they read the schedule, so this statement uses the same order. A few statements of pollers lock the schedule
 * first, which can cause a deadlock. If Postgres then ends this statement, nothing has changed yet, and the lock is
 * tried again.
 */
export const LOCK_BOTH_TABLES = `
  DO $$
  BEGIN
    FOR attempt IN 1..20 LOOP
      BEGIN
        LOCK TABLE upstream_searches, watch_schedule IN ACCESS EXCLUSIVE MODE;
        RETURN;
      EXCEPTION WHEN deadlock_detected THEN
        IF attempt = 20 THEN RAISE; END IF;
      END;
    END LOOP;
  END $$`;

/** Returns the statement that gives a table the grants and the owner of the table that it replaces. */
export function grantsLike(replaced: string, table: string): string {
  return `
  DO $$
  DECLARE statement text;
  BEGIN
    FOR statement IN
      SELECT format('GRANT %s ON ${table} TO %s%s', privilege_type,
        CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END,
        CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
      FROM pg_class, aclexplode(relacl) WHERE oid = '${replaced}'::regclass
      UNION ALL
      SELECT format('ALTER TABLE ${table} OWNER TO %s', relowner::regrole)
      FROM pg_class WHERE oid = '${replaced}'::regclass AND pg_get_userbyid(relowner) <> current_user
    LOOP EXECUTE statement; END LOOP;
  END $$`;
}
