/** A pack of credits beside the allowance. */
export interface CreditPack {
  id: string;
  granted: number;
  remaining: number;
  /** ISO 8601; null: never. */
  expiresAt: string | null;
}
