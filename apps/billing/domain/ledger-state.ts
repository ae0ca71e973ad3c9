import type { CreditMovement, CreditPack } from '#contracts';

/** The credits of one account. */
export type LedgerState = { status: 'none' } | OpenLedger;

/** The credits of an account after the ledger was opened. */
export interface OpenLedger {
  status: 'open';
  plan: string;
  /**
   * When the ledger was opened, in ISO 8601 like all times of this type. Each period begins on the same day of the
   * month, or on the last day of a shorter month.
   */
  openedAt: string;
  periodStart: string;
  /** The first instant after the period. */
  periodEnd: string;
  /** The plan's allowance in credits per period. */
  allowance: number;
  /** The used part of the period's allowance. It can exceed the allowance after a change to a smaller plan. */
  allowanceUsed: number;
  /** The packs in the order in which they are spent, without empty packs. */
  packs: readonly CreditPack[];
}

/** The state before the ledger is opened. */
export const noLedger: LedgerState = { status: 'none' };

/** Returns the available credits. */
export function creditsOf(ledger: OpenLedger): number {
  return ledger.packs.reduce((sum, { remaining }) => sum + remaining, allowanceLeft(ledger));
}

/** Returns the next time at which the ledger changes without a command: the period ends, or a pack expires. */
export function nextChangeAt({ periodEnd, packs }: OpenLedger): string {
  const expiresAt = packs[0]?.expiresAt ?? null;
  return expiresAt !== null && isOver(expiresAt, periodEnd) ? expiresAt : periodEnd;
}

/** Returns the state after the movement. */
export function evolve(state: LedgerState, { amount, cause }: CreditMovement): LedgerState {
  if (cause.case === 'renewal') {
    const { plan, periodStart, periodEnd, allowanceCredits } = cause.value;
    const { openedAt, packs } = state.status === 'open' ? state : { openedAt: periodStart, packs: [] };
    const allowance = allowanceCredits;
    return { status: 'open', plan, openedAt, periodStart, periodEnd, allowance, allowanceUsed: 0, packs };
  }
  if (state.status === 'none') return state;
  switch (cause.case) {
    case 'charge':
      return cause.value.draws.reduce(drawn, state);
    case 'grant': {
      const { packId: id, expiresAt } = cause.value;
      const pack = { id, granted: amount, remaining: amount, expiresAt: expiresAt || null };
      return { ...state, packs: [...state.packs, pack].sort(inOrderOfDraw) };
    }
    case 'packExpiry':
      return { ...state, packs: state.packs.filter(({ id }) => id !== cause.value.packId) };
    case 'allowanceChange':
      return { ...state, plan: cause.value.plan, allowance: cause.value.allowanceCredits };
    case undefined:
      return state;
  }
}

/** Returns the unused part of the period's allowance, in credits. */
export function allowanceLeft({ allowance, allowanceUsed }: OpenLedger): number {
  return Math.max(0, allowance - allowanceUsed);
}

function drawn(ledger: OpenLedger, { packId, credits }: { packId: string; credits: number }): OpenLedger {
  if (packId === '') return { ...ledger, allowanceUsed: ledger.allowanceUsed + credits };
  const packs = ledger.packs
    .map((pack) => (pack.id === packId ? { ...pack, remaining: pack.remaining - credits } : pack))
    .filter(({ remaining }) => remaining > 0);
  return { ...ledger, packs };
}

function inOrderOfDraw(a: CreditPack, b: CreditPack): number {
  const first = (pack: CreditPack) => (pack.expiresAt === null ? Infinity : Date.parse(pack.expiresAt));
  if (first(a) !== first(b)) return first(a) < first(b) ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}

/** Returns whether the instant has come. Compares the texts, because all times have the same format. */
export function isOver(instant: string, now: string): boolean {
  return instant <= now;
}
