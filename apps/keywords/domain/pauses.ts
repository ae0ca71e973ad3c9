/** The reasons for the pause of a keyword, or of a watch without a keyword. It runs while there is no reason. */
export type PauseReason = 'user' | 'plan' | 'schedule' | 'insufficient_credits';

/** In order of priority: `pausedReason` is the first reason that applies. */
export const PAUSE_REASONS: readonly PauseReason[] = ['user', 'plan', 'schedule', 'insufficient_credits'];

/** The reasons that apply, in their order, and the credits that a check needed if credits are a reason. */
export interface Pauses {
  reasons: readonly PauseReason[];
  /** Credits; 0 without `insufficient_credits`. */
  creditsNeeded: number;
}

export const running: Pauses = { reasons: [], creditsNeeded: 0 };

export function withReason({ reasons, creditsNeeded }: Pauses, reason: string, needed: number): Pauses {
  return {
    reasons: PAUSE_REASONS.filter((one) => one === reason || reasons.includes(one)),
    creditsNeeded: reason === 'insufficient_credits' ? needed : creditsNeeded,
  };
}

export function withoutReason({ reasons, creditsNeeded }: Pauses, reason: string): Pauses {
  return {
    reasons: reasons.filter((one) => one !== reason),
    creditsNeeded: reason === 'insufficient_credits' ? 0 : creditsNeeded,
  };
}
