import { newId } from '#kernel';
import type { Database, Tx } from '#postgres';

/** A claim ends after this time if its replica does not renew it. */
export const CLAIM_SECONDS = 10;
/** Maximum number of questions in one request: questions of one watch, without an agent step. */
const BATCH = 20;
/**
 * At the deadline, the replica that asks the model finishes the question. Other replicas take the question only after
 * this additional time.
 */
const GRACE_SECONDS = 2;
const FINISHED_PER_CLAIM = 200;

/** A question that this process has claimed. */
export interface ClaimedQuestion {
  eventId: string;
  accountId: string;
  watchId: string;
  seq: number;
  deadlineAt: number;
  tries: number;
  /** True if a replica was asking the model when the question was claimed again after its deadline. */
  wasUnderWay: boolean;
  cause: string | undefined;
  claim: string;
}

interface Row {
  event_id: string;
  account_id: string;
  watch_id: string;
  seq: number;
  deadline_at: Date;
  tries: number;
  traceparent: string | null;
  under_way?: boolean;
}

/** A question whose deadline has passed is not asked, because its answer would be late. */
const CAN_BE_ASKED = 'due_at <= now() AND deadline_at > now()';
const NO_ID = '00000000-0000-0000-0000-000000000000';
const COLUMNS = 'w.event_id, w.account_id, w.watch_id, w.seq, w.deadline_at, w.tries, w.traceparent';

/**
 * Takes questions in turns: account after account, and in each account watch after watch, so that one long queue does
 * not delay the other queues.
 */
export class Turns {
  private lastAccount = NO_ID;
  /** For each account, the watch that had the last turn. */
  private readonly lastWatch = new Map<string, string>();

  constructor(private readonly database: Database) {}

  /**
   * Claims due questions of the next watch: one question with an agent step, or several questions without. Claims none
   * if no question is due.
   */
  async next(): Promise<ClaimedQuestion[]> {
    const accountId = await this.nextAccount();
    if (accountId === undefined) {
      this.lastWatch.clear();
      return [];
    }
    this.lastAccount = accountId;
    const turn = await this.nextWatch(accountId);
    if (!turn) return [];
    this.lastWatch.set(accountId, turn.watch_id);
    return claim(
      this.database,
      `w.account_id = $3 AND w.watch_id = $4 AND w.has_step = $5 AND ${CAN_BE_ASKED} ORDER BY w.due_at LIMIT $6`,
      [accountId, turn.watch_id, turn.has_step, turn.has_step ? 1 : BATCH],
    );
  }

  private async nextAccount(): Promise<string | undefined> {
    const rows: { account_id: string }[] = await this.database.query(
      `SELECT account_id FROM (
         (SELECT account_id, 1 AS round FROM waiting_readings WHERE ${CAN_BE_ASKED} AND account_id > $1 ORDER BY account_id LIMIT 1)
         UNION ALL
         (SELECT account_id, 2 FROM waiting_readings WHERE ${CAN_BE_ASKED} AND account_id <= $1 ORDER BY account_id LIMIT 1)) t
       ORDER BY round LIMIT 1`,
      [this.lastAccount],
    );
    return rows[0]?.account_id;
  }

  private async nextWatch(accountId: string): Promise<{ watch_id: string; has_step: boolean } | undefined> {
    const due = (which: string, round: number) =>
      `(SELECT watch_id, has_step, ${round} AS round FROM waiting_readings
        WHERE account_id = $1 AND ${CAN_BE_ASKED} AND watch_id ${which} $2 ORDER BY watch_id, due_at LIMIT 1)`;
    const rows: { watch_id: string; has_step: boolean }[] = await this.database.query(
      `SELECT watch_id, has_step FROM (${due('>', 1)} UNION ALL ${due('<=', 2)}) t ORDER BY round LIMIT 1`,
      [accountId, this.lastWatch.get(accountId) ?? NO_ID],
    );
    return rows[0];
  }
}

/**
 * Claims questions whose deadline has passed, the oldest first. A claim from before the deadline can be taken over
 * `GRACE_SECONDS` after the deadline, because its replica was asking the model. A claim from after the deadline stays
 * until it ends, because its replica is finishing the question.
 */
export function claimOverdue(database: Database): Promise<ClaimedQuestion[]> {
  return claim(
    database,
    `w.deadline_at <= now() AND (w.claim IS NULL OR w.due_at <= now()
       OR (w.deadline_at <= now() - make_interval(secs => ${GRACE_SECONDS})
         AND w.due_at < w.deadline_at + make_interval(secs => ${CLAIM_SECONDS})))
     ORDER BY w.deadline_at LIMIT $3`,
    [FINISHED_PER_CLAIM],
  );
}

/** Claims questions whose deadline passes while no request is sent, except questions that a replica is asking. */
export function claimUnaskable(database: Database, blockedForMs: number): Promise<ClaimedQuestion[]> {
  return claim(
    database,
    `(w.claim IS NULL OR w.due_at <= now()) AND w.deadline_at <= now() + make_interval(secs => $3)
     ORDER BY w.deadline_at LIMIT $4`,
    [blockedForMs / 1000, FINISHED_PER_CLAIM],
  );
}

/**
 * Claims due questions that need not wait for the model: all due questions, or only questions without an agent step.
 */
export function claimWithoutModel(database: Database, evenSteps: boolean): Promise<ClaimedQuestion[]> {
  return claim(database, 'w.due_at <= now() AND (NOT w.has_step OR $3) ORDER BY w.deadline_at LIMIT $4', [
    evenSteps,
    FINISHED_PER_CLAIM,
  ]);
}

async function claim(
  database: Database,
  which: string,
  values: readonly unknown[],
): Promise<ClaimedQuestion[]> {
  const id = newId();
  const [rows]: [Row[]] = await database.query(
    `WITH k AS MATERIALIZED (SELECT w.event_id, w.claim IS NOT NULL AND w.due_at > now() AS under_way
       FROM waiting_readings w WHERE ${which} FOR UPDATE SKIP LOCKED)
     UPDATE waiting_readings w SET claim = $1, due_at = now() + make_interval(secs => $2), tries = w.tries + 1
     FROM k WHERE w.event_id = k.event_id RETURNING ${COLUMNS}, k.under_way`,
    [id, CLAIM_SECONDS, ...values],
  );
  return rows.map((row) => ({
    eventId: row.event_id,
    accountId: row.account_id,
    watchId: row.watch_id,
    seq: row.seq,
    deadlineAt: row.deadline_at.getTime(),
    tries: row.tries,
    wasUnderWay: row.under_way ?? false,
    cause: row.traceparent ?? undefined,
    claim: id,
  }));
}

/**
 * Renews claims of this process. Does not renew claims that another replica has taken over, or claims of questions
 * whose deadline has passed (see `claimOverdue`).
 */
export async function renewClaims(database: Database, claims: readonly string[]): Promise<void> {
  if (claims.length > 0)
    await database.query(
      'UPDATE waiting_readings SET due_at = now() + make_interval(secs => $2) WHERE claim = ANY($1) AND deadline_at > now()',
      [claims, CLAIM_SECONDS],
    );
}

/** Ends the claims of questions, so that they are tried again at `dueAt` (epoch ms). */
export async function giveBack(
  database: Database,
  questions: readonly ClaimedQuestion[],
  dueAt: number,
): Promise<void> {
  const [first] = questions;
  if (first)
    await database.query(
      'UPDATE waiting_readings SET claim = NULL, due_at = $3 WHERE claim = $1 AND event_id = ANY($2)',
      [first.claim, questions.map(({ eventId }) => eventId), new Date(dueAt)],
    );
}

/** Deletes questions: another replica has answered them, or they were purged. */
export async function dropQuestions(tx: Tx, questions: readonly ClaimedQuestion[]): Promise<void> {
  if (questions.length > 0)
    await tx.query(
      'DELETE FROM waiting_readings w USING unnest($1::uuid[], $2::bigint[]) AS q (event_id, seq) WHERE w.event_id = q.event_id AND w.seq = q.seq',
      [questions.map(({ eventId }) => eventId), questions.map(({ seq }) => seq)],
    );
}
