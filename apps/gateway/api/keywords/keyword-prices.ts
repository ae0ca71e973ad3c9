import { Inject, Injectable } from '@nestjs/common';
import type { KeywordDefinition, SourceId } from '#contracts';
import { resolveCriteria } from '#criteria';
import { Refusal } from '#kernel';
import { priceOf } from '#quotes';
import { SOURCES } from '../../config.js';
import { pathId } from '../../http/path-id.js';
import { KeywordReads } from '../../reads/keyword-reads.js';
import { KeywordInput } from './keyword-input.js';
import type { Sources } from './keyword-faults.js';

/** Prices of keywords that exist, by the present price book. */
@Injectable()
export class KeywordPrices {
  constructor(
    private readonly reads: KeywordReads,
    private readonly input: KeywordInput,
    @Inject(SOURCES) private readonly sources: Sources,
  ) {}

  /**
   * Credits per month of a keyword after a change.
   * @param raw the body of the change
   * @throws Refusal `not-found`, or `invalid` if the body is not valid
   */
  async monthlyAfter(accountId: string, id: string, raw: unknown): Promise<number> {
    const keyword = await this.reads.keyword(accountId, pathId(id, 'keyword'));
    if (!keyword) throw Refusal.notFound('keyword');
    return this.monthlyOf(this.input.change(raw, 'any', keyword.definition));
  }

  private monthlyOf(definition: KeywordDefinition): number {
    const { globalCriteria, coBrandsEnabled, sources } = definition;
    if (!globalCriteria) return 0;
    const prices = sources
      .filter(({ enabled }) => enabled)
      .flatMap(({ source, searches, refreshIntervalSeconds }) => {
        const overrides = searches.map((search) => (search.overridesEnabled ? search.overrides : undefined));
        return (overrides.length === 0 ? [undefined] : overrides).map((own) => {
          const search = {
            source: source as SourceId,
            criteria: resolveCriteria(globalCriteria, own),
            intervalSeconds: refreshIntervalSeconds || definition.refreshIntervalSeconds,
            coBrands: coBrandsEnabled,
            backfill: false,
          };
          return priceOf(search, this.sources.get(search.source)?.connector ?? {}).monthlyCredits;
        });
      });
    return prices.reduce((sum, price) => sum + price, 0);
  }
}
