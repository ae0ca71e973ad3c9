import { Inject, Injectable } from '@nestjs/common';
import { limitsOf, type KeywordDefinition, type SourceId, type Watch } from '#contracts';
import { balanceOf } from '#credits';
import { criteriaJson } from '#criteria';
import { Refusal } from '#kernel';
import type { Tx } from '#postgres';
import { quoteOf, type PricedParts } from '#quotes';
import type { SourceSetup } from '#sources';
import { FLOOR_SECONDS, SOURCES } from '../config.js';
import { planUseOf, requireFloors, requireRoom, requireTerms, type PlanUse } from './plan-limits.js';
import { plannedSearches, watchesOf, type PlannedSearch } from './planned-searches.js';

/** A keyword that the account may have: what it would watch, and under which circumstances. */
export interface Admitted {
  searches: PlannedSearch[];
  /** One for each search, of sources that are switched off too. */
  watches: Watch[];
  use: PlanUse;
  creditsRemaining: number;
}

/** Whether an account may have what it asks for, by its plan and its credits: the same for a create and its estimate. */
@Injectable()
export class Admission {
  constructor(
    @Inject(SOURCES) private readonly sources: ReadonlyMap<SourceId, SourceSetup>,
    @Inject(FLOOR_SECONDS) private readonly floor: number | undefined,
  ) {}

  /**
   * A keyword that is to be created.
   * @throws Refusal 400 `INTERVAL_TOO_LOW`, 402 `PLAN_LIMIT` or `INSUFFICIENT_CREDITS`
   */
  async ofNew(tx: Tx, accountId: string, definition: KeywordDefinition): Promise<Admitted> {
    const admitted = await this.admit(tx, accountId, definition, null);
    const enabled = admitted.watches.filter(({ disabled }) => !disabled);
    requireRoom(admitted.use, { keywords: 1, searchSlots: enabled.length });
    requireCredits(admitted.creditsRemaining, enabled);
    return admitted;
  }

  /**
   * A keyword that is to be changed. One that rests since it is over the plan takes no room; what it has of it is
   * asked when it is resumed.
   * @throws Refusal as `ofNew`, but for credits
   */
  async ofChanged(
    tx: Tx,
    accountId: string,
    definition: KeywordDefinition,
    keywordId: string,
    restsForPlan: boolean,
  ): Promise<Admitted> {
    const admitted = await this.admit(tx, accountId, definition, keywordId);
    const searchSlots = admitted.watches.filter(({ disabled }) => !disabled).length;
    if (!restsForPlan) requireRoom(admitted.use, { keywords: 0, searchSlots });
    return admitted;
  }

  /** What fits no plan limit of its own: floors and terms. @throws Refusal 400 or 402 */
  requireFit(plan: string, definition: KeywordDefinition): PlannedSearch[] {
    const searches = plannedSearches(definition);
    requireFloors(
      plan,
      definition.sources.flatMap((entry, index) =>
        entry.enabled
          ? [
              {
                source: entry.source as SourceId,
                seconds: entry.refreshIntervalSeconds ?? definition.refreshIntervalSeconds,
                path:
                  entry.refreshIntervalSeconds === undefined
                    ? 'refreshIntervalSeconds'
                    : `sources[${index}].refreshIntervalSeconds`,
              },
            ]
          : [],
      ),
      this.floor,
    );
    requireTerms(plan, searches);
    return searches;
  }

  /** A lone watch's interval and terms. @throws Refusal 400 or 402 */
  requireWatchFit(plan: string, { source, intervalSeconds, criteria }: Watch): void {
    const path = 'refresh_interval_seconds';
    requireFloors(plan, [{ source: source as SourceId, seconds: intervalSeconds, path }], this.floor);
    if (criteria) requireTerms(plan, [{ criteria, path: 'criteria' }]);
  }

  /** What the interface calls the estimate. */
  estimateOf({ searches, use, creditsRemaining }: Admitted, definition: KeywordDefinition) {
    const enabled = searches.filter((search) => search.enabled);
    const limits = limitsOf(use.plan);
    const quote = quoteOf(enabled, this.partsOf);
    return {
      ...quote,
      normalized: {
        refreshIntervalSeconds: definition.refreshIntervalSeconds,
        sentimentEnabled: definition.sentimentEnabled,
        coBrandsEnabled: definition.coBrandsEnabled,
        sources: quote.bySource.map(({ source, intervalSeconds }) => ({
          source,
          intervalSeconds,
          searches: enabled
            .filter((search) => search.source === source)
            .map((search) => ({
              id: search.searchId,
              label: search.label,
              resolvedCriteria: criteriaJson(search.criteria),
            })),
        })),
      },
      planAllowance: limits.monthlyCredits,
      creditsRemaining,
      searchSlots: { inUse: use.searchSlots, requested: enabled.length, limit: limits.searchSlots },
    };
  }

  /** What the price counts on a source. */
  readonly partsOf = (source: SourceId): PricedParts => this.sources.get(source)?.connector ?? {};

  private async admit(
    tx: Tx,
    accountId: string,
    definition: KeywordDefinition,
    exceptId: string | null,
  ): Promise<Admitted> {
    const use = await planUseOf(tx, accountId, exceptId);
    requireChannels(definition);
    const searches = this.requireFit(use.plan, definition);
    const balance = await balanceOf(tx, accountId);
    return {
      searches,
      watches: watchesOf(searches, this.partsOf),
      use,
      creditsRemaining: balance?.remaining ?? 0,
    };
  }
}

/**
 * Channels that a keyword or its rules name have to be the account's. `/v1/channels` takes its place in delivery: until
 * then an account has none.
 * @throws Refusal 400
 */
function requireChannels({ channels, rules }: KeywordDefinition): void {
  const named = [
    ...channels.map((_, index) => `channels[${index}].channelId`),
    ...rules.flatMap((rule, r) =>
      rule.then.flatMap((action, a) =>
        action.channelIds.map((_, index) => `rules[${r}].then[${a}].channelIds[${index}]`),
      ),
    ),
  ];
  if (named.length > 0)
    throw Refusal.validation(named.map((path) => ({ path, message: 'is no channel of this account' })));
}

/** The first check of each search at least. @throws Refusal 402 `INSUFFICIENT_CREDITS` with what is missing */
export function requireCredits(remaining: number, watches: readonly Watch[]): void {
  const needed = watches.reduce(
    (sum, { firstScanCredits, creditsPerCheck }) => sum + (firstScanCredits || creditsPerCheck),
    0,
  );
  if (needed > remaining) throw Refusal.insufficientCredits(needed, remaining);
}
