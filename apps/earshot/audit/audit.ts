import { creditsOf, type LedgerState } from '../../billing/domain/ledger-state.js';
import { auditFacts } from './audit-facts.js';
import type { AuditInput } from './audit-input.js';
import { foldLedger } from './fold-ledger.js';
import { originsOf } from './origins.js';
import { auditDays, quoteFaults, type AuditDay } from './quoted-and-charged.js';

/** The result of an audit. */
export interface AuditReport {
  accountId: string;
  /** True if streams, tables and quotes agree. */
  agrees: boolean;
  /** The differences, as text for people. */
  faults: string[];
  /** Information that is not a fault. */
  notes: string[];
  /** The totals of the movements in CREDITS. */
  balance: number;
  movements: number;
  charges: number;
  /** By UTC day and source. */
  days: AuditDay[];
}

/** Computes a ledger again from the facts, and compares it with the stream, the tables and the quotes. */
export function audit(input: AuditInput): AuditReport {
  const ledger = foldLedger(input, originsOf(input));
  const facts = auditFacts(input, ledger.movementIds);
  const days = auditDays(input);
  const faults = [...ledger.faults, ...facts.faults, ...tableFaults(input, ledger), ...quoteFaults(input)];
  const notes = [...ledger.notes, ...facts.notes];
  const last = input.decisions.at(-1)?.seq ?? 0;
  if (input.tables && input.tables.seq < last)
    notes.push(
      `the tables are at message ${input.tables.seq} of ${last}: they were compared at that position`,
    );
  return {
    accountId: input.accountId,
    agrees: faults.length === 0,
    faults,
    notes,
    balance: ledger.balance,
    movements: ledger.movementIds.size,
    charges: facts.charges,
    days,
  };
}

function tableFaults({ tables, decisions }: AuditInput, ledger: ReturnType<typeof foldLedger>): string[] {
  if (!tables) return decisions.length === 0 ? [] : ['the tables do not contain the account'];
  const at = ledger.after.get(tables.seq);
  if (!at) return [`the tables are at message ${tables.seq}, which is not in the account's stream`];
  const faults: string[] = [];
  const compare = (what: string, found: unknown, wanted: unknown) => {
    if (JSON.stringify(found) !== JSON.stringify(wanted))
      faults.push(
        `${what} is ${JSON.stringify(found)}, but ${JSON.stringify(wanted)} according to the stream`,
      );
  };
  compare('the balance in the tables', tables.balance, at.balance);
  compare('the number of movements in the tables', tables.movements, at.movements);
  compare('the sum of the movements in the tables', tables.sumOfMovements, at.balance);
  compare('the sum of the usage in the tables', tables.sumOfUsage, at.charged);
  if (tables.state.status === 'open' && at.state.status === 'open') {
    for (const key of ['plan', 'openedAt', 'periodStart', 'periodEnd', 'allowance', 'allowanceUsed'] as const)
      compare(`${key} in the tables`, tables.state[key], at.state[key]);
    compare('the packs in the tables', packsOf(tables.state), packsOf(at.state));
    compare('the available credits in the tables', creditsOf(tables.state), creditsOf(at.state));
  }
  return faults;
}

/** Returns the packs, each with its keys in a fixed order. */
function packsOf(state: LedgerState) {
  if (state.status === 'none') return [];
  return state.packs.map(({ id, granted, remaining, expiresAt }) => ({ id, granted, remaining, expiresAt }));
}
