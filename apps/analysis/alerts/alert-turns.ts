import type { Database } from '#postgres';

/** A replica that has not finished a turn within this time counts as dead. */
const CLAIM_SECONDS = 60;
/** Time until the next turn of a keyword that changed during its evaluation. */
const NEXT_TURN_SECONDS = 10;

/** A keyword whose alerts must be evaluated. At most one replica at a time holds the claim on this turn. */
export interface AlertTurn {
  keywordId: string;
  /**
   * The evaluation begins at this time, in ms: at the start of the earliest bin (five minutes) that has a new mention, or
   * an alert that had to wait for the minimum interval. Undefined if there is none: then the turn only checks whether an
   * episode has ended.
   */
  changedFrom: number | undefined;
  /** Grows when new mentions arrive for the keyword. If it is higher after the evaluation, mentions arrived during it. */
  changes: number;
}

/** A turn that was evaluated. */
export interface EvaluatedTurn {
  turn: AlertTurn;
  /** The next time at which an episode can begin or end without new mentions, in ms; undefined if none can. */
  nextAt: number | undefined;
  /** Start of the earliest bin that must be evaluated again at `nextAt`, in ms. */
  nextFrom?: number | undefined;
}

/** Claims the turns that are due. The turns that have been due for the longest time come first. */
export async function claimTurns(database: Database, limit: number): Promise<AlertTurn[]> {
  const [rows]: [{ keyword_id: string; changed_from: Date | null; changes: number }[]] = await database.query(
    `UPDATE alert_turns SET due_at = now() + make_interval(secs => ${CLAIM_SECONDS})
     WHERE keyword_id = ANY (ARRAY(SELECT keyword_id FROM alert_turns WHERE due_at <= now()
       ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED))
     RETURNING keyword_id, changed_from, changes`,
    [limit],
  );
  return rows.map(({ keyword_id, changed_from, changes }) => ({
    keywordId: keyword_id,
    changedFrom: changed_from?.getTime(),
    changes,
  }));
}

/** Ends the claims of turns that cannot be evaluated yet. These turns are due again after one second. */
export async function postponeTurns(database: Database, turns: readonly AlertTurn[]): Promise<void> {
  if (turns.length > 0)
    await database.query(
      `UPDATE alert_turns SET due_at = now() + interval '1 second' WHERE keyword_id = ANY ($1)`,
      [turns.map(({ keywordId }) => keywordId)],
    );
}

/**
 * Ends the claims of evaluated turns. A keyword that has changed meanwhile is due again after `NEXT_TURN_SECONDS`. The
 * others are due at `nextAt`, or not at all if `nextAt` is undefined.
 */
export async function finishTurns(database: Database, evaluated: readonly EvaluatedTurn[]): Promise<void> {
  if (evaluated.length === 0) return;
  await database.query(
    `UPDATE alert_turns t SET evaluated_at = now(),
       changed_from = CASE WHEN t.changes = e.changes THEN e.next_from ELSE t.changed_from END,
       due_at = CASE WHEN t.changes = e.changes THEN COALESCE(e.next_at, 'infinity')
         ELSE now() + make_interval(secs => ${NEXT_TURN_SECONDS}) END
     FROM unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::timestamptz[])
       AS e (keyword_id, changes, next_at, next_from)
     WHERE t.keyword_id = e.keyword_id`,
    [
      evaluated.map(({ turn }) => turn.keywordId),
      evaluated.map(({ turn }) => turn.changes),
      evaluated.map(({ nextAt }) => (nextAt === undefined ? null : new Date(nextAt))),
      evaluated.map(({ nextFrom }) => (nextFrom === undefined ? null : new Date(nextFrom))),
    ],
  );
}
