import book from './price-book.json' with { type: 'json' };
import type { SourceId } from './sources.js';

/** The plans, in their order. */
export const PLANS = ['free', 'solo', 'growth', 'pro', 'unlimited'] as const;
export type Plan = (typeof PLANS)[number];

/** The version of the price book: stands in every charge. */
export const PRICE_BOOK_VERSION: string = book.version;

/**
 * What a completed check of the source costs, in credits; a failed one costs nothing. The rates of `ai_answers`
 * depend on its engines and come with that source.
 */
export function creditsPerCheck(source: SourceId): number {
  const rates: Record<string, number> = book.creditsPerCheck;
  return rates[source] ?? book.creditsPerCheck.open;
}
