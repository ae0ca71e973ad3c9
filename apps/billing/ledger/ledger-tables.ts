import type { CreditDecision, CreditPack } from '#contracts';
import { useUp } from '#credits';
import { isoOf } from '#kernel';
import type { Tx } from '#postgres';
import { creditsOf, evolve, nextChangeAt, type LedgerState } from '../domain/ledger-state.js';
import { movementRow } from './movement-row.js';

/** An account's ledger as it is in the tables. */
export interface Ledger {
  state: LedgerState;
  /** Sequence of the last applied message of the account's subject; 0 if no message was applied. */
  seq: number;
}

/**
 * A stored decision and its period. A decision first applies the renewals that are due, so all its charges belong to
 * the period after these renewals.
 */
export interface StoredDecision {
  seq: number;
  decision: CreditDecision;
  periodStart: string;
}

/** A change of an account's ledger that must be written into the tables. */
export interface LedgerChange {
  accountId: string;
  /** The ledger after the decisions. */
  after: Ledger;
  decisions: readonly StoredDecision[];
}

/**
 * Applies a stored decision to the ledger. Returns the ledger afterwards, and the decision with its period.
 * @param seq sequence of the decision's message
 */
export function applyDecision(
  { state: before }: Ledger,
  seq: number,
  decision: CreditDecision,
): { after: Ledger; stored: StoredDecision } {
  const state = decision.movements.reduce(evolve, before);
  const periodStart = state.status === 'open' ? state.periodStart : decision.decidedAt;
  return { after: { state, seq }, stored: { seq, decision, periodStart } };
}

interface Row {
  account_id: string;
  plan: string;
  opened_at: Date;
  period_start: Date;
  period_end: Date;
  allowance: number;
  allowance_used: number;
  packs: CreditPack[];
  seq: number;
}

/**
 * The seed of the advisory locks for opening ledgers. Commands on an account use seed 0. Email addresses and the first
 * account use seed 1. Sign-in attempts use seed 2 too, with other texts. Claims of deliveries use seed 3.
 */
const OPENING_LOCK = 2;

/**
 * Locks the ledgers of the accounts until the transaction ends. Until then, no other transaction reserves or charges
 * their credits, or opens their ledgers.
 * @param opening accounts whose ledger possibly has no row yet. Each of them also gets an advisory lock, because a
 * missing row cannot be locked.
 * @returns the ledgers that have a row, by account id
 */
export async function lockLedgers(
  tx: Tx,
  accountIds: readonly string[],
  opening: readonly string[],
): Promise<Map<string, Ledger>> {
  // The ledgers are locked in the order of the account ids, to prevent deadlocks.
  for (const accountId of [...opening].sort())
    await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, $2))', [accountId, OPENING_LOCK]);
  const rows: Row[] = await tx.query(
    'SELECT * FROM credit_balances WHERE account_id = ANY($1) ORDER BY account_id FOR UPDATE',
    [accountIds],
  );
  return new Map(rows.map((row) => [row.account_id, { state: stateOf(row), seq: row.seq }]));
}

function stateOf(row: Row): LedgerState {
  return {
    status: 'open',
    plan: row.plan,
    openedAt: isoOf(row.opened_at),
    periodStart: isoOf(row.period_start),
    periodEnd: isoOf(row.period_end),
    allowance: row.allowance,
    allowanceUsed: row.allowance_used,
    packs: row.packs,
  };
}

/** Returns the sequence of the last applied message of each account's subject. Accounts without a ledger are absent. */
export async function positionsOf(tx: Tx, accountIds: readonly string[]): Promise<Map<string, number>> {
  const rows: { account_id: string; seq: number }[] = await tx.query(
    'SELECT account_id, seq FROM credit_balances WHERE account_id = ANY($1)',
    [accountIds],
  );
  return new Map(rows.map((row) => [row.account_id, row.seq]));
}

/** Returns which of these movements are already stored. */
export async function knownMovements(tx: Tx, movementIds: readonly string[]): Promise<Set<string>> {
  if (movementIds.length === 0) return new Set();
  const rows: { movement_id: string }[] = await tx.query(
    'SELECT movement_id FROM credit_movements WHERE movement_id = ANY($1)',
    [movementIds],
  );
  return new Set(rows.map((row) => row.movement_id));
}

/** Writes the changes of locked ledgers. The number of statements does not depend on the number of accounts. */
export async function writeLedgers(tx: Tx, changes: readonly LedgerChange[]): Promise<void> {
  if (changes.length === 0) return;
  await writeBalances(tx, changes);
  await writeMovements(tx, changes);
  await writeUsage(tx, changes);
  await settleReservations(tx, changes);
}

async function writeBalances(tx: Tx, changes: readonly LedgerChange[]): Promise<void> {
  const rows = changes.flatMap(({ accountId, after: { state, seq } }) =>
    state.status === 'open' ? [{ accountId, state, seq }] : [],
  );
  const column = <T>(read: (row: (typeof rows)[number]) => T) => rows.map(read);
  await tx.query(
    `INSERT INTO credit_balances (account_id, plan, opened_at, period_start, period_end, allowance, allowance_used,
       packs, balance, turns_at, seq)
     SELECT * FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[], $6::bigint[],
       $7::bigint[], $8::jsonb[], $9::bigint[], $10::timestamptz[], $11::bigint[])
     ON CONFLICT (account_id) DO UPDATE SET plan = excluded.plan, period_start = excluded.period_start,
       period_end = excluded.period_end, allowance = excluded.allowance, allowance_used = excluded.allowance_used,
       packs = excluded.packs, balance = excluded.balance, turns_at = excluded.turns_at, seq = excluded.seq`,
    [
      column(({ accountId }) => accountId),
      column(({ state }) => state.plan),
      column(({ state }) => state.openedAt),
      column(({ state }) => state.periodStart),
      column(({ state }) => state.periodEnd),
      column(({ state }) => state.allowance),
      column(({ state }) => state.allowanceUsed),
      column(({ state }) => JSON.stringify(state.packs)),
      column(({ state }) => creditsOf(state)),
      column(({ state }) => nextChangeAt(state)),
      column(({ seq }) => seq),
    ],
  );
}

async function writeMovements(tx: Tx, changes: readonly LedgerChange[]): Promise<void> {
  const rows = changes.flatMap(({ accountId, decisions }) =>
    decisions.flatMap(({ seq, decision }) =>
      decision.movements.map((movement, place) =>
        movementRow(movement, { accountId, seq, place, decidedAt: decision.decidedAt }),
      ),
    ),
  );
  // One JSON document is as fast as one array for each of the eighteen columns, and it names the columns.
  await tx.query(
    `INSERT INTO credit_movements
     SELECT * FROM json_populate_recordset(NULL::credit_movements, $1::json) ON CONFLICT DO NOTHING`,
    [JSON.stringify(rows)],
  );
}

async function writeUsage(tx: Tx, changes: readonly LedgerChange[]): Promise<void> {
  const sums = new Map<string, UsageRow>();
  for (const { accountId, decisions } of changes)
    for (const { decision, periodStart } of decisions)
      for (const { amount, cause } of decision.movements) {
        if (cause.case !== 'charge') continue;
        const { source, operation } = cause.value;
        const key = [accountId, periodStart, source, operation].join(' ');
        const row = { account_id: accountId, period_start: periodStart, source, operation, credits: 0 };
        const sum = sums.get(key) ?? row;
        sum.credits -= amount;
        sums.set(key, sum);
      }
  if (sums.size === 0) return;
  await tx.query(
    `INSERT INTO credit_usage AS u
     SELECT * FROM json_populate_recordset(NULL::credit_usage, $1::json)
     ON CONFLICT (account_id, period_start, source, operation) DO UPDATE SET credits = u.credits + excluded.credits`,
    [JSON.stringify([...sums.values()])],
  );
}

interface UsageRow {
  account_id: string;
  period_start: string;
  source: string;
  operation: string;
  credits: number;
}

/** Settles the reservations of the charged work. */
async function settleReservations(tx: Tx, changes: readonly LedgerChange[]): Promise<void> {
  const references = changes.flatMap(({ decisions }) =>
    decisions.flatMap(({ decision }) =>
      decision.movements.flatMap(({ cause }) => (cause.case === 'charge' ? [cause.value.reference] : [])),
    ),
  );
  await useUp(tx, references);
}
