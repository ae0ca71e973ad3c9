import book from './price-book.json' with { type: 'json' };
import type { SourceId } from './sources.js';

/** The plans, in their order. */
export const PLANS = ['free', 'solo', 'growth', 'pro', 'unlimited'] as const;
export type Plan = (typeof PLANS)[number];

/** The version of the price book; every charge stores it. */
export const PRICE_BOOK_VERSION: string = book.version;

/** What a plan allows; null: no limit. */
export interface PlanLimits {
  requestsPerMinute: number;
  keywords: number | null;
  searchSlots: number | null;
  termsPerSearch: number;
  monthlyCredits: number;
}

/** @throws Error for what is no plan of the price book */
export function limitsOf(plan: string): PlanLimits {
  if (!isPlan(plan)) throw new Error(`the price book has no plan ${plan}`);
  return book.plans[plan];
}

/** Whether the price book has such a plan. */
export function isPlan(name: string): name is Plan {
  return (PLANS as readonly string[]).includes(name);
}

/**
 * What a completed check of the source costs, in credits, for each priced part (engine); a failed one costs nothing.
 * @param coBrands each part is read for brands named beside the own one as well, which only ai_answers does
 */
export function creditsPerCheck(source: SourceId, coBrands = false): number {
  const rates: Record<string, number> = book.creditsPerCheck;
  const more = coBrands ? ((book.coBrandsPerUnit as Record<string, number>)[source] ?? 0) : 0;
  return (rates[source] ?? book.creditsPerCheck.open) + more;
}

/** What each item of a backfilled first scan costs instead of the check, in credits; undefined: the check's rate. */
export function creditsPerFirstScanItem(source: SourceId): number | undefined {
  return (book.creditsPerFirstScanItem as Partial<Record<SourceId, number>>)[source];
}

/** The interval floors' groups: what a source's checks may not be faster than, by plan. */
export type FloorGroup = 'open' | 'social' | 'vinted' | 'ai_answers';

/**
 * The shortest interval that the plan allows on the source, in seconds.
 * @param override `INTERVAL_FLOOR_SECONDS`, if the installation sets it: it replaces every floor
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

/** What a lookup costs, in credits; `operation` as in `x.tweets`. @throws Error when the price book has no such rate */
export function creditsOfLookup(operation: string, found: number): number {
  const rate = (book.lookups as Record<string, { base: number; perFound: number } | undefined>)[operation];
  if (!rate) throw new Error(`the price book has no rate for the lookup ${operation}`);
  return rate.base + rate.perFound * found;
}
