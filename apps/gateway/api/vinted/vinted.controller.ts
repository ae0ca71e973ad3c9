import { Controller, Get, Param, Query } from '@nestjs/common';
import { isId, Refusal } from '#kernel';
import { vintedMarketOf } from '#sources';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { KeywordReads } from '../../reads/keyword-reads.js';
import { MarketReads, type MarketScope } from '../../reads/market-reads.js';
import { marketDayView } from './market-day-view.js';
import { priceHistoryView, priceSteps } from './price-history.js';

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;

const SCOPES = [
  ['criteria_hash', 'search'],
  ['keyword_id', 'keyword'],
  ['brand_id', 'brand'],
  ['catalog_id', 'catalog'],
] as const;

/** The routes of observed Vinted listings: their prices over time, and daily market statistics. The requests cost no credits. */
@Controller('v1/vinted')
export class VintedController {
  constructor(
    private readonly market: MarketReads,
    private readonly keywords: KeywordReads,
  ) {}

  @Get('items/:id/price-history')
  async priceHistory(@From() { accountId }: Caller, @Param('id') id: string, @Query() raw: RawQuery) {
    if (!/^\d{1,20}$/.test(id)) throw Refusal.notFound('item');
    const query = new QueryReader(raw);
    const limit = query.integer('limit', 1, 1000, 100);
    const { from, to } = query.span('from', 'to');
    const market = marketOf(query);
    query.finish();
    const found = await this.market.observations(accountId, id, market);
    // The same id can exist in several markets, with separate prices. The default is the market in which Earshot saw
    // the listing last.
    const last = found.at(-1)?.market;
    const observations = found.filter((one) => one.market === last);
    if (observations.length === 0) throw Refusal.notFound('item');
    const live = await this.keywords.searchesOf(accountId, 'vinted');
    const steps = priceSteps(observations, (search) => live.has(search));
    const points = steps.points.filter(
      ({ at }) => (!from || Date.parse(at) >= from.getTime()) && (!to || Date.parse(at) < to.getTime()),
    );
    return priceHistoryView(id, observations, { ...steps, points }, limit);
  }

  @Get('market-stats')
  async marketStats(@From() { accountId }: Caller, @Query() raw: RawQuery) {
    const query = new QueryReader(raw);
    const to = query.instant('to') ?? new Date();
    const from = query.instant('from') ?? new Date(to.getTime() - (DEFAULT_DAYS - 1) * DAY_MS);
    if (from > to) query.fault('from', 'must not be later than to');
    // Both days are included.
    if (Date.parse(dateOf(to)) - Date.parse(dateOf(from)) >= MAX_DAYS * DAY_MS)
      query.fault('from', `at most ${MAX_DAYS} days can be requested at once`);
    const scope = scopeOf(query);
    query.finish();
    if (scope.scope === 'keyword' && !(await this.keywords.keyword(accountId, scope.scopeId)))
      throw Refusal.notFound('keyword');
    const rows = await this.market.days(accountId, scope, dateOf(from), dateOf(to));
    return { data: rows.map(marketDayView) };
  }
}

/** Reads the scope of the statistics. Reports faults to the query reader. */
function scopeOf(query: QueryReader): MarketScope {
  const market = marketOf(query);
  const given = SCOPES.flatMap(([key, scope]) => {
    const scopeId = query.one(key);
    return scopeId === undefined ? [] : [{ key, scope, scopeId: scopeId.toLowerCase() }];
  });
  const [one, ...others] = given;
  if (!one || others.length > 0) {
    query.fault(
      one?.key ?? 'criteria_hash',
      'exactly one of criteria_hash, keyword_id, brand_id and catalog_id is required',
    );
    return { scope: 'search', scopeId: '', market };
  }
  if (one.scope === 'keyword' && !isId(one.scopeId)) throw Refusal.notFound('keyword');
  if ((one.scope === 'brand' || one.scope === 'catalog') && market === undefined)
    query.fault('market', `is required with ${one.key}: the same id exists in several markets`);
  return { scope: one.scope, scopeId: one.scopeId, market };
}

/** Returns the canonical code of the market: `uk` for `uk` and `gb`. An unknown market is a fault. */
function marketOf(query: QueryReader): string | undefined {
  const given = query.one('market');
  if (given === undefined) return undefined;
  const market = vintedMarketOf(given);
  if (!market) query.fault('market', 'is not a market of vinted; markets are, for example, fr, uk and us');
  return market?.code;
}

function dateOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}
