/** A reason for the pause of a keyword, or of a watch without a keyword. */
export type PauseReason = 'user' | 'plan' | 'schedule' | 'insufficient_credits';

/** In order of priority: `pausedReason` is the first reason that applies. */
export const PAUSE_REASONS: readonly PauseReason[] = ['user', 'plan', 'schedule', 'insufficient_credits'];

/** The reasons that apply, in the order of `PAUSE_REASONS`. If there are none, the keyword or watch runs. */
export interface Pauses {
  reasons: readonly PauseReason[];
  /**
   * The credits that a resume needs: the price of the unpaid check. After the keyword has changed, see
   * `updateCreditsNeeded`. 0 if the reason `insufficient_credits` does not apply.
   */
  creditsNeeded: number;
}

/** No reason for a pause applies. */
export const running: Pauses = { reasons: [], creditsNeeded: 0 };

/** Adds a reason. @param needed the needed credits, for `insufficient_credits` */
export function withReason({ reasons, creditsNeeded }: Pauses, reason: string, needed: number): Pauses {
  return {
    reasons: PAUSE_REASONS.filter((one) => one === reason || reasons.includes(one)),
    creditsNeeded: reason === 'insufficient_credits' ? needed : creditsNeeded,
  };
}

/** Removes a reason. */
export function withoutReason({ reasons, creditsNeeded }: Pauses, reason: string): Pauses {
  return {
    reasons: reasons.filter((one) => one !== reason),
    creditsNeeded: reason === 'insufficient_credits' ? 0 : creditsNeeded,
  };
}
