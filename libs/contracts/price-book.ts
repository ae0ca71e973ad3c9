import book from './price-book.json' with { type: 'json' };
import type { SourceId } from './sources.js';

/** The plans, from the smallest to the largest. */
export const PLANS = ['free', 'solo', 'growth', 'pro', 'unlimited'] as const;
export type Plan = (typeof PLANS)[number];

/** The version of the price book; every charge stores it. */
export const PRICE_BOOK_VERSION: string = book.version;

/** The limits of a plan; null: no limit. */
export interface PlanLimits {
  requestsPerMinute: number;
  keywords: number | null;
  searchSlots: number | null;
  termsPerSearch: number;
  monthlyCredits: number;
}

/** Returns the limits of a plan. @throws Error if the price book has no such plan */
export function limitsOf(plan: string): PlanLimits {
  if (!isPlan(plan)) throw new Error(`the price book has no plan ${plan}`);
  return book.plans[plan];
}

/** Returns true if the price book has a plan with this name. */
export function isPlan(name: string): name is Plan {
  return (PLANS as readonly string[]).includes(name);
}

/**
 * Returns the price of a completed check of the source, in credits. A check of ai_answers costs this price for each
 * engine. A failed check is free.
 * @param coBrands true if items are also searched for brands other than the subject; only ai_answers charges for this
 */
export function creditsPerCheck(source: SourceId, coBrands = false): number {
  const rates: Record<string, number> = book.creditsPerCheck;
  return (rates[source] ?? book.creditsPerCheck.open) + (coBrands ? creditsOfCoBrands(source) : 0);
}

/**
 * Returns the price in credits of finding brands other than the subject in one answer of an AI engine; 0 for other
 * sources.
 */
export function creditsOfCoBrands(source: SourceId): number {
  return (book.coBrandsPerUnit as Partial<Record<SourceId, number>>)[source] ?? 0;
}

/** Readings of an item that cost credits. */
export type PricedReading = 'analysis' | 'bucket' | 'agent_step';

/** Returns the price of one reading of one item, in credits. `analysis` is sentiment and intent together. */
export function creditsPerReading(reading: PricedReading): number {
  return book.creditsPerReading[reading];
}

/** Returns the price of one mention in an analysis that a user requests, in credits. */
export function creditsPerAnalysedItem(): number {
  return book.creditsPerAnalysedItem;
}

/** Returns the price of a search by meaning (`mode=semantic`), in credits. @param questions number of its `q` */
export function creditsOfQuestion(questions: number): number {
  return book.creditsPerQuestion * questions;
}

/** Returns the price of one source that answers a question of Explore, in credits. */
export function creditsPerExploredSource(): number {
  return book.creditsPerExploredSource;
}

/**
 * Returns the price of each item of a backfilled first scan, in credits. This price replaces the price of the check.
 * Undefined if the source has no such price: then the check's price applies.
 */
export function creditsPerFirstScanItem(source: SourceId): number | undefined {
  return (book.creditsPerFirstScanItem as Partial<Record<SourceId, number>>)[source];
}

/** Groups of sources. In each plan, all sources of a group have the same shortest interval. */
export type FloorGroup = 'open' | 'social' | 'vinted' | 'ai_answers';

/**
 * Returns the shortest interval that the plan allows for the source, in seconds.
 * @param override `INTERVAL_FLOOR_SECONDS`, if the installation sets it; this value replaces all floors
 * @throws Error if the price book has no such plan and there is no `override`
 */
export function floorSeconds(plan: string, source: SourceId, override?: number): number {
  if (override) return override;
  if (!isPlan(plan)) throw new Error(`the price book has no plan ${plan}`);
  return book.plans[plan].floorSeconds[floorGroupOf(source)];
}

function floorGroupOf(source: SourceId): FloorGroup {
  switch (source) {
    case 'x':
    case 'youtube':
    case 'tiktok':
      return 'social';
    case 'vinted':
    case 'ai_answers':
      return source;
    default:
      return 'open';
  }
}

/**
 * Returns the price of a lookup, in credits.
 * @param operation for example `x.tweets`
 * @param found number of objects that the lookup found
 * @throws Error if the price book has no price for the operation
 */
export function creditsOfLookup(operation: string, found: number): number {
  const rate = (book.lookups as Record<string, { base: number; perFound: number } | undefined>)[operation];
  if (!rate) throw new Error(`the price book has no rate for the lookup ${operation}`);
  return rate.base + rate.perFound * found;
}
