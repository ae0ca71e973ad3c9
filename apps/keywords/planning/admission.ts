import { Inject, Injectable } from '@nestjs/common';
import { creditsPerReading, limitsOf, type KeywordDefinition, type SourceId, type Watch } from '#contracts';
import { balanceOf, type Balance } from '#credits';
import { criteriaJson } from '#criteria';
import { Refusal } from '#kernel';
import { together, type Tx } from '#postgres';
import { quoteOf, type PricedParts } from '#quotes';
import type { SourceSetup } from '#sources';
import { FLOOR_SECONDS, SOURCES } from '../config.js';
import {
  planUseOf,
  requireFloors,
  requireRoom,
  requireTerms,
  type GivenInterval,
  type PlanUse,
} from './plan-limits.js';
import { plannedSearches, watchesOf, type PlannedSearch } from './planned-searches.js';

/**
 * A keyword that plan and credits allow: the keyword's searches and watches, and what the account uses of its plan and
 * credits.
 */
export interface Admitted {
  searches: PlannedSearch[];
  /** One watch for each search, including searches on disabled sources. */
  watches: Watch[];
  use: PlanUse;
  /** Undefined until the account's ledger is open. */
  balance: Balance | undefined;
}

/** Checks whether the plan and the credits of an account allow a request. Create and estimate use the same check. */
@Injectable()
export class Admission {
  constructor(
    @Inject(SOURCES) private readonly sources: ReadonlyMap<SourceId, SourceSetup>,
    @Inject(FLOOR_SECONDS) private readonly floor: number | undefined,
  ) {}

  /**
   * Admits a new keyword.
   * @param counted whether the account's keywords and searches are counted: see `planUseOf`
   * @throws Refusal `invalid` for an interval below the floor (`INTERVAL_TOO_LOW`) or a channel that the account does
   * not have, `not-covered` `PLAN_LIMIT` or `INSUFFICIENT_CREDITS`, `not-found` if there is no such account,
   * `unavailable` until the account's ledger is open
   */
  async ofNew(
    tx: Tx,
    accountId: string,
    definition: KeywordDefinition,
    counted: 'limited' | 'all' = 'limited',
  ): Promise<Admitted> {
    const admitted = await this.admit(tx, accountId, definition, planUseOf(tx, accountId, null, counted));
    const enabled = admitted.watches.filter(({ disabled }) => !disabled);
    requireRoom(admitted.use, { keywords: 1, searchSlots: enabled.length }, 'sources');
    requireCredits(admitted.balance, enabled);
    return admitted;
  }

  /**
   * Admits a change of a keyword. Unchanged parts are not checked, even if the plan is smaller now. Such parts are
   * checked when the keyword resumes after a pause that the plan caused.
   * @param keyword the keyword with its current definition; this keyword is not counted
   * @param counted like `ofNew`
   * @throws Refusal like `ofNew`, but credits are not checked: no `INSUFFICIENT_CREDITS` and no `unavailable`
   */
  async ofChanged(
    tx: Tx,
    accountId: string,
    definition: KeywordDefinition,
    keyword: { keywordId: string; before: KeywordDefinition },
    counted: 'limited' | 'all' = 'limited',
  ): Promise<Admitted> {
    const { keywordId, before } = keyword;
    const counting = planUseOf(tx, accountId, keywordId, counted);
    const admitted = await this.admit(tx, accountId, definition, counting, before);
    const searchSlots = admitted.searches.filter(({ enabled }) => enabled).length;
    const slotsBefore = plannedSearches(before).filter(({ enabled }) => enabled).length;
    if (searchSlots > slotsBefore) {
      const used = { ...admitted.use, searchSlots: admitted.use.searchSlots + slotsBefore };
      requireRoom(used, { keywords: 0, searchSlots: searchSlots - slotsBefore }, 'sources');
    }
    return admitted;
  }

  /**
   * Checks the limits that do not depend on other keywords: intervals and terms.
   * @param before the current definition, whose unchanged parts are not checked
   * @returns the searches of the definition
   * @throws Refusal `invalid` or `not-covered`
   */
  requireFit(plan: string, definition: KeywordDefinition, before?: KeywordDefinition): PlannedSearch[] {
    const searches = plannedSearches(definition);
    const searchesBefore = before ? plannedSearches(before) : [];
    const intervals = intervalsOf(definition);
    const known = new Set(
      before ? intervalsOf(before).map(({ source, seconds }) => `${source} ${seconds}`) : [],
    );
    const added = intervals.filter(({ source, seconds }) => !known.has(`${source} ${seconds}`));
    requireFloors(plan, added, this.floor);
    const hashes = new Set(searchesBefore.map(({ criteriaHash }) => criteriaHash));
    requireTerms(
      plan,
      searches.filter(({ criteriaHash }) => !hashes.has(criteriaHash)),
    );
    return searches;
  }

  /** Checks the interval and the terms of a watch without a keyword. @throws Refusal `invalid` or `not-covered` */
  requireWatchFit(plan: string, watch: Watch): void {
    this.requireWatchInterval(plan, watch);
    if (watch.criteria) requireTerms(plan, [{ criteria: watch.criteria, path: 'criteria' }]);
  }

  /** Checks the interval of a watch without a keyword. @throws Refusal `invalid` */
  requireWatchInterval(plan: string, { source, intervalSeconds }: Watch): void {
    const path = 'refreshIntervalSeconds';
    requireFloors(plan, [{ source: source as SourceId, seconds: intervalSeconds, path }], this.floor);
  }

  /** Returns the response of an estimate, as the API specifies it. */
  estimateOf({ searches, use, balance }: Admitted, definition: KeywordDefinition) {
    const enabled = searches.filter((search) => search.enabled);
    const limits = limitsOf(use.plan);
    const quote = quoteOf(enabled, this.partsOf);
    return {
      ...quote,
      creditsPerItem: {
        analysis: definition.sentimentEnabled ? creditsPerReading('analysis') : 0,
        bucket: definition.aiEnabled && definition.aiPreset ? creditsPerReading('bucket') : 0,
        agentStep: definition.aiStep ? creditsPerReading('agent_step') : 0,
      },
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
      creditsRemaining: balance?.remaining ?? 0,
      searchSlots: { inUse: use.searchSlots, requested: enabled.length, limit: limits.searchSlots },
    };
  }

  /** Returns the parts of a check that determine its price on a source. */
  readonly partsOf = (source: SourceId): PricedParts => this.sources.get(source)?.connector ?? {};

  private async admit(
    tx: Tx,
    accountId: string,
    definition: KeywordDefinition,
    counting: Promise<PlanUse>,
    before?: KeywordDefinition,
  ): Promise<Admitted> {
    const [use, balance] = await together([
      counting,
      balanceOf(tx, accountId),
      requireChannels(tx, accountId, definition, before),
    ]);
    const searches = this.requireFit(use.plan, definition, before);
    return { searches, watches: watchesOf(searches, this.partsOf), use, balance };
  }
}

/**
 * Requires that the channels in a keyword and in its rules belong to the account. The channels that the keyword already
 * uses are not checked, because they can have been deleted.
 * @throws Refusal `invalid`
 */
async function requireChannels(
  tx: Tx,
  accountId: string,
  definition: KeywordDefinition,
  before: KeywordDefinition | undefined,
): Promise<void> {
  const known = new Set(before ? channelsOf(before).map(({ id }) => id) : []);
  const added = channelsOf(definition).filter(({ id }) => !known.has(id));
  if (added.length === 0) return;
  const rows: { channel_id: string }[] = await tx.query(
    'SELECT channel_id FROM channels WHERE account_id = $1 AND channel_id = ANY ($2)',
    [accountId, added.map(({ id }) => id)],
  );
  const own = new Set(rows.map(({ channel_id }) => channel_id));
  const faults = added
    .filter(({ id }) => !own.has(id))
    .map(({ path }) => ({ path, message: 'is not a channel of this account' }));
  if (faults.length > 0) throw Refusal.validation(faults);
}

function channelsOf({ channels, rules }: KeywordDefinition): { id: string; path: string }[] {
  return [
    ...channels.map(({ channelId: id }, index) => ({ id, path: `channels[${index}].channelId` })),
    ...rules.flatMap((rule, r) =>
      rule.then.flatMap((action, a) =>
        action.channelIds.map((id, n) => ({ id, path: `rules[${r}].then[${a}].channelIds[${n}]` })),
      ),
    ),
  ];
}

/** Returns the interval of each enabled source, and the path of the interval in the body. */
function intervalsOf(definition: KeywordDefinition): GivenInterval[] {
  return definition.sources.flatMap(({ source, enabled, refreshIntervalSeconds: own }, index) => {
    if (!enabled) return [];
    const path = own === undefined ? 'refreshIntervalSeconds' : `sources[${index}].refreshIntervalSeconds`;
    return [{ source: source as SourceId, seconds: own ?? definition.refreshIntervalSeconds, path }];
  });
}

/**
 * Returns the cost of the first checks of these watches, in credits: `firstScanCredits` of a watch, or the price of an
 * ordinary check if these are 0.
 */
export function startCreditsOf(watches: readonly Watch[]): number {
  return watches.reduce(
    (sum, { firstScanCredits, creditsPerCheck }) => sum + (firstScanCredits || creditsPerCheck),
    0,
  );
}

/**
 * Requires that the credits cover the first check of each watch.
 * @throws Refusal `not-covered` `INSUFFICIENT_CREDITS` that names the needed and the remaining credits, `unavailable`
 * until the account's ledger is open
 */
export function requireCredits(balance: Balance | undefined, watches: readonly Watch[]): void {
  if (!balance) throw Refusal.unavailable('the credits of the account are not known yet; try again');
  const needed = startCreditsOf(watches);
  if (needed > balance.remaining) throw Refusal.insufficientCredits(needed, balance.remaining);
}
