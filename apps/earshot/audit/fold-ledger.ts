import type { Charge, CreditMovement } from '#contracts';
import { creditsOf, evolve, noLedger, type LedgerState } from '../../billing/domain/ledger-state.js';
import { currentPeriod } from '../../billing/domain/period.js';
import type { AuditedDecision } from './audit.js';

/** Where a ledger stood after a message. Credits, but `movements`. */
export interface Standing {
  state: LedgerState;
  balance: number;
  movements: number;
  /** All charges so far. */
  charged: number;
}

/** What the stream of one account comes to. */
export interface FoldedLedger {
  balance: number;
  /** By the message's sequence; 0: before the first. */
  after: Map<number, Standing>;
  movementIds: Set<string>;
  faults: string[];
  notes: string[];
}

/** Goes through a ledger movement by movement, and looks whether each follows from what was before it. */
export function foldLedger(decisions: readonly AuditedDecision[]): FoldedLedger {
  let standing: Standing = { state: noLedger, balance: 0, movements: 0, charged: 0 };
  const after = new Map<number, Standing>([[0, standing]]);
  const movementIds = new Set<string>();
  const faults: string[] = [];
  let uncovered = 0;
  for (const { seq, decision } of decisions) {
    for (const movement of decision.movements) {
      const { movementId, amount, cause } = movement;
      const what = `movement ${movementId} (${cause.case ?? 'unknown'})`;
      if (movementIds.has(movementId)) faults.push(`${what} is there twice`);
      movementIds.add(movementId);
      faults.push(
        ...movementFaults(standing, movement, decision.decidedAt).map((fault) => `${what} ${fault}`),
      );
      const charged = cause.case === 'charge' ? 0 - amount : 0;
      if (cause.case === 'charge') uncovered += cause.value.costCredits - charged;
      standing = {
        state: evolve(standing.state, movement),
        balance: movement.balanceAfter,
        movements: standing.movements + 1,
        charged: standing.charged + charged,
      };
    }
    after.set(seq, standing);
  }
  const notes =
    uncovered > 0 ? [`${uncovered} credits were not covered by the balance and never charged`] : [];
  return { balance: standing.balance, after, movementIds, faults, notes };
}

function movementFaults(before: Standing, movement: CreditMovement, decidedAt: string): string[] {
  const { amount, balanceAfter, cause } = movement;
  const faults: string[] = [];
  if (before.balance + amount !== balanceAfter)
    faults.push(`leaves ${balanceAfter}, and ${before.balance} and ${amount} are ${before.balance + amount}`);
  if (balanceAfter < 0) faults.push(`leaves ${balanceAfter}: less than nothing`);
  const state = evolve(before.state, movement);
  if (state.status === 'open' && creditsOf(state) !== balanceAfter)
    faults.push(`leaves ${balanceAfter}, and allowance and packs come to ${creditsOf(state)}`);
  switch (cause.case) {
    case 'charge':
      return [...faults, ...chargeFaults(cause.value, amount, balanceAfter)];
    case 'packExpiry': {
      const { packId } = cause.value;
      const pack = before.state.status === 'open' && before.state.packs.find(({ id }) => id === packId);
      if (!pack) faults.push(`is of pack ${packId}, which was not there`);
      else if (pack.expiresAt === null || pack.expiresAt > decidedAt)
        faults.push(`is of pack ${packId}, which was good until ${pack.expiresAt ?? 'for ever'}`);
      return faults;
    }
    case 'renewal': {
      const { periodStart, periodEnd } = cause.value;
      const openedAt = before.state.status === 'open' ? before.state.openedAt : periodStart;
      const { start, end } = currentPeriod(openedAt, periodStart);
      if (start !== periodStart || end !== periodEnd)
        faults.push(`begins a period from ${periodStart} to ${periodEnd}, not ${start} to ${end}`);
      return faults;
    }
    case 'grant':
    case 'allowanceChange':
    case undefined:
      return faults;
  }
}

function chargeFaults({ costCredits, draws }: Charge, amount: number, balanceAfter: number): string[] {
  const drawn = draws.reduce((sum, { credits }) => sum + credits, 0);
  const faults: string[] = [];
  if (drawn !== 0 - amount) faults.push(`takes ${0 - amount}, and ${drawn} from allowance and packs`);
  if (0 - amount > costCredits) faults.push(`takes ${0 - amount} for what cost ${costCredits}`);
  if (0 - amount < costCredits && balanceAfter > 0)
    faults.push(`takes ${0 - amount} for what cost ${costCredits}, and leaves ${balanceAfter}`);
  return faults;
}
