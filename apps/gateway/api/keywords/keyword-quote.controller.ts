import { Controller, Get, Param, Query } from '@nestjs/common';
import { PRICE_BOOK_VERSION } from '#contracts';
import { isoOf } from '#kernel';
import { wholeByDay, type QuotedDay } from '#quotes';
import { From } from '../../auth/caller.js';
import type { Caller } from '../../auth/api-keys.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { QuoteReads, type ChargedDay } from '../../reads/quote-reads.js';
import { KeywordViews } from './keyword-views.js';

const WINDOW_MS = 30 * 24 * 3_600_000;

/** The quoted and the charged cost of a keyword. Free. */
@Controller()
export class KeywordQuoteController {
  constructor(
    private readonly views: KeywordViews,
    private readonly reads: QuoteReads,
  ) {}

  /**
   * Compares quoted and charged credits per source and UTC day, from `since` (default: 30 days before `until`) to
   * `until` (default: now).
   */
  @Get(['v1/keywords/:id/quote', 'v1/queries/:id/quote'])
  async quote(@From() { accountId }: Caller, @Param('id') id: string, @Query() raw: RawQuery) {
    const keyword = await this.views.of(accountId, id);
    const query = new QueryReader(raw);
    const until = query.instant('until') ?? new Date();
    const since = query.instant('since') ?? new Date(until.getTime() - WINDOW_MS);
    if (since > until) query.fault('since', 'must not be later than until');
    query.finish();
    const [periods, charged] = await Promise.all([
      this.reads.periods(accountId, keyword.id, since, until),
      this.reads.charged(accountId, keyword.id, since, until),
    ]);
    const now = Math.min(until.getTime(), Date.now());
    const days = daysOf(wholeByDay(periods, since.getTime(), now), charged);
    return {
      keywordId: keyword.id,
      priceBookVersion: PRICE_BOOK_VERSION,
      monthlyCredits: keyword.monthlyCredits,
      since: isoOf(since),
      until: isoOf(until),
      quotedCredits: total(days, 'quotedCredits'),
      chargedCredits: total(days, 'chargedCredits'),
      bySource: [...new Set(days.map(({ source }) => source))].sort().map((source) => {
        const own = days.filter((day) => day.source === source);
        return {
          source,
          quotedCredits: total(own, 'quotedCredits'),
          chargedCredits: total(own, 'chargedCredits'),
          days: own.map(({ source: _, ...day }) => day),
        };
      }),
    };
  }
}

interface Day {
  source: string;
  date: string;
  quotedChecks: number;
  quotedCredits: number;
  chargedChecks: number;
  chargedCredits: number;
}

function daysOf(quoted: readonly QuotedDay[], charged: readonly ChargedDay[]): Day[] {
  const days = new Map<string, Day>();
  const dayOf = (source: string, date: string) => {
    const key = `${date} ${source}`;
    const empty = { source, date, quotedChecks: 0, quotedCredits: 0, chargedChecks: 0, chargedCredits: 0 };
    const day = days.get(key) ?? empty;
    days.set(key, day);
    return day;
  };
  for (const { source, date, checks, credits } of quoted)
    Object.assign(dayOf(source, date), { quotedChecks: checks, quotedCredits: credits });
  for (const { source, date, checks, credits } of charged)
    Object.assign(dayOf(source, date), { chargedChecks: checks, chargedCredits: credits });
  return [...days.values()].sort((a, b) => (a.date < b.date ? -1 : 1));
}

function total(days: readonly Day[], key: 'quotedCredits' | 'chargedCredits'): number {
  return days.reduce((sum, day) => sum + day[key], 0);
}
