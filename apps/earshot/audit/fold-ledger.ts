import { isoOf } from '#kernel';
import {
  creditsOf,
  evolve,
  noLedger,
  nextChangeAt,
  type LedgerState,
} from '../../billing/domain/ledger-state.js';
import type { AuditInput } from './audit-input.js';
import { checkMovement } from './movement-faults.js';
import type { Origins } from './origins.js';
import { Withdrawals } from './withdrawals.js';

/** The state and the totals of a ledger after a message. Numbers are credits, except `movements`. */
export interface LedgerTotals {
  state: LedgerState;
  balance: number;
  movements: number;
  /** Sum of all charges up to this message. */
  charged: number;
}

/** The ledger that is computed from the stream of one account. */
export interface FoldedLedger {
  balance: number;
  /** The key is the sequence of the message; 0: before the first message. */
  after: Map<number, LedgerTotals>;
  movementIds: Set<string>;
  faults: string[];
  notes: string[];
}

/** Billing renews ledgers within seconds. A renewal that is missing after this time is a fault, not a delay. */
const MAX_RENEWAL_DELAY_MS = 86_400_000;

/** Goes through a ledger movement by movement, and computes each movement again from the previous state. */
export function foldLedger(input: AuditInput, origins: Origins): FoldedLedger {
  let totals: LedgerTotals = { state: noLedger, balance: 0, movements: 0, charged: 0 };
  const after = new Map<number, LedgerTotals>([[0, totals]]);
  const movementIds = new Set<string>();
  const faults: string[] = [];
  const withdrawals = new Withdrawals();
  for (const { seq, decision } of input.decisions) {
    for (const movement of decision.movements) {
      const { movementId, amount, balanceAfter, cause } = movement;
      const what = `movement ${movementId} (${cause.case ?? 'unknown'})`;
      if (movementIds.has(movementId)) faults.push(`${what} exists twice`);
      movementIds.add(movementId);
      const result = checkMovement(movement, {
        accountId: input.accountId,
        before: totals.state,
        decidedAt: decision.decidedAt,
        origins,
        isLater: seq > input.chargedBefore,
        isExcused: withdrawals.excuse(movement, decision.decidedAt),
      });
      faults.push(...result.faults.map((fault) => `${what} ${fault}`));
      const stored = evolve(totals.state, movement);
      // A movement that contradicts itself is replaced by the expected movement. Otherwise every later movement would
      // have a fault too.
      const isConsistent = stored.status === 'open' && creditsOf(stored) === balanceAfter;
      totals = {
        state: isConsistent ? stored : evolve(totals.state, result.expected ?? movement),
        balance: balanceAfter,
        movements: totals.movements + 1,
        charged: totals.charged + (cause.case === 'charge' ? 0 - amount : 0),
      };
    }
    after.set(seq, totals);
  }
  faults.push(...missedRenewal(totals.state, input.now));
  return { balance: totals.balance, after, movementIds, faults, notes: withdrawals.notes() };
}

function missedRenewal(state: LedgerState, now: number): string[] {
  if (state.status === 'none' || nextChangeAt(state) > isoOf(now - MAX_RENEWAL_DELAY_MS)) return [];
  return [
    `the ledger should have been renewed at ${nextChangeAt(state)}: the end of the period, or of a pack, was skipped`,
  ];
}
