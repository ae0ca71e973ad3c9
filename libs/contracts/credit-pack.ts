/** A pack of credits in addition to the allowance. */
export interface CreditPack {
  id: string;
  granted: number;
  remaining: number;
  /** ISO 8601; null if it does not expire. */
  expiresAt: string | null;
}
