import { Inject, Injectable } from '@nestjs/common';
import type { SourceId } from '#contracts';
import { storedCriteria } from '#criteria';
import { isoOf, Refusal } from '#kernel';
import type { KeywordEntity } from '#postgres';
import { priceOf } from '#quotes';
import { HAS_MODEL, SOURCES } from '../../config.js';
import { pathId } from '../../http/path-id.js';
import { KeywordReads, type WatchRead } from '../../reads/keyword-reads.js';
import { definitionView } from './definition.js';
import { unavailableSources, type Sources } from './keyword-faults.js';
import { modelFaults } from './model-faults.js';

/**
 * Builds the keyword objects that the API returns: the create body with its effective values, and the read-only keys.
 */
@Injectable()
export class KeywordViews {
  constructor(
    private readonly reads: KeywordReads,
    @Inject(SOURCES) private readonly sources: Sources,
    @Inject(HAS_MODEL) private readonly hasModel: boolean,
  ) {}

  /** @throws Refusal `not-found` */
  async of(accountId: string, id: string) {
    const found = await this.reads.keywordWithWatches(accountId, pathId(id, 'keyword'));
    if (!found) throw Refusal.notFound('keyword');
    return this.view(found.keyword, found.watches);
  }

  async ofAll(keywords: readonly KeywordEntity[]) {
    const watches = await this.reads.watchesOfKeywords(keywords.map(({ keywordId }) => keywordId));
    return keywords.map((keyword) => this.view(keyword, watches.get(keyword.keywordId) ?? []));
  }

  private view(keyword: KeywordEntity, all: readonly WatchRead[]) {
    // Watches that were replaced, or whose search was removed, are left out. If the keyword is retired, all its watches are
    // shown.
    const watches = all.filter(({ watch }) => keyword.state === 'retired' || !watch.retiredAt);
    const definition = definitionView(keyword.definition);
    const entries = definition.sources as { source: SourceId; enabled: boolean }[];
    const warnings = [
      ...modelFaults(definition, this.hasModel),
      ...(keyword.state === 'retired' ? [] : unavailableSources(entries, this.sources)),
    ];
    return {
      id: keyword.keywordId,
      ...definition,
      state: keyword.state,
      pausedReason: keyword.pausedReason,
      createdAt: isoOf(keyword.createdAt),
      updatedAt: isoOf(keyword.updatedAt),
      version: keyword.version,
      monthlyCredits: watches.reduce((sum, read) => sum + this.monthlyCredits(keyword, read), 0),
      watches: watches.map(({ watch, lastCheckedAt, lastStatus }) => ({
        id: watch.watchId,
        source: watch.source,
        searchId: watch.searchId,
        criteriaHash: watch.criteriaHash,
        refreshIntervalSeconds: watch.intervalSeconds,
        isActive: watch.isActive,
        pausedReason: watch.pausedReason,
        lastCheckedAt,
        lastStatus,
      })),
      ...(warnings.length > 0 && { warnings }),
    };
  }

  /**
   * Returns the credits of a watch per month in the current price book; 0 if the watch is disabled or its keyword is
   * retired.
   */
  private monthlyCredits({ definition, state }: KeywordEntity, { watch }: WatchRead): number {
    if (state === 'retired' || watch.disabled) return 0;
    const source = watch.source as SourceId;
    const search = {
      source,
      criteria: storedCriteria(watch.criteria),
      intervalSeconds: watch.intervalSeconds,
      coBrands: definition['coBrandsEnabled'] === true,
      backfill: false,
    };
    return priceOf(search, this.sources.get(source)?.connector ?? {}).monthlyCredits;
  }
}
