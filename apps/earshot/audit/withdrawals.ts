import type { CreditMovement } from '#contracts';
import { uncoveredCredits } from './movement-faults.js';
import { RECORD_MS } from './quoted-and-charged.js';

/**
 * Credits that an account lost while they were possibly reserved: its plan became smaller, or a pack expired. The work
 * that had reserved them is charged as far as the balance covers it, and the rest is free.
 */
export class Withdrawals {
  private readonly lost: { at: number; credits: number }[] = [];
  private charges = 0;
  private credits = 0;

  /**
   * Remembers the movement if it takes credits away. Returns true for a charge whose uncovered part is not larger than
   * what was taken away after its work began.
   */
  excuse(movement: CreditMovement, decidedAt: string): boolean {
    const { amount, cause } = movement;
    if (amount < 0 && (cause.case === 'allowanceChange' || cause.case === 'packExpiry'))
      this.lost.push({ at: Date.parse(decidedAt), credits: 0 - amount });
    const uncovered = uncoveredCredits(movement);
    if (uncovered === 0 || cause.case !== 'charge') return false;
    const begunAt = Date.parse(cause.value.at) - RECORD_MS;
    const during = this.lost.filter(({ at }) => at >= begunAt);
    if (during.reduce((sum, { credits }) => sum + credits, 0) < uncovered) return false;
    let rest = uncovered;
    for (const one of during) {
      const part = Math.min(rest, one.credits);
      one.credits -= part;
      rest -= part;
    }
    this.charges += 1;
    this.credits += uncovered;
    return true;
  }

  /** Returns what the audit says about the excused charges. */
  notes(): string[] {
    if (this.charges === 0) return [];
    return [
      `charges that took less than their cost, because the plan became smaller or a pack expired during the work: ${this.charges} (${this.credits} credits were not paid)`,
    ];
  }
}
