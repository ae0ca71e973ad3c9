import { PRICE_BOOK_VERSION, type SourceId } from '#contracts';
import { searchOf, watchOf } from '../testing/built-checks.js';
import { checkPriceOf } from './check-price.js';
import type { OtherQuote } from './quoted-prices.js';

const connector = { unitsPerCheck: () => 3, itemsPerFirstScan: () => 4 };
const quote: OtherQuote = {
  priceBookVersion: '2026-01-01',
  creditsPerCheck: 9,
  firstScanCredits: 0,
  coBrands: false,
};
const scan = { baselineAt: undefined, backfill: true };

describe('the price of a check', () => {
  // In the present price book, a check of ai_answers costs 5 for each engine, and 2 more with co-brands.
  it.each<[string, SourceId, Parameters<typeof watchOf>[0], Partial<OtherQuote>, number, string]>([
    ['the cheaper quote of another price book', 'ai_answers', {}, {}, 3, quote.priceBookVersion],
    [
      'the present price, if the quote of another price book is higher',
      'ai_answers',
      {},
      { creditsPerCheck: 30 },
      5,
      PRICE_BOOK_VERSION,
    ],
    [
      'the quote without co-brands, which are charged with the answers',
      'ai_answers',
      {},
      { coBrands: true },
      1,
      quote.priceBookVersion,
    ],
    [
      'nothing, if the price of co-brands alone is higher than the quote',
      'ai_answers',
      {},
      { coBrands: true, creditsPerCheck: 3 },
      0,
      quote.priceBookVersion,
    ],
    ['the quoted first scan, in a first scan', 'x', scan, { firstScanCredits: 2 }, 0, quote.priceBookVersion],
    [
      'the present price of a first scan, if its quote is not lower',
      'x',
      scan,
      { firstScanCredits: 4 },
      1,
      PRICE_BOOK_VERSION,
    ],
  ])('is %s', (_, source, watch, more, rateCredits, priceBookVersion) => {
    const price = checkPriceOf(connector, searchOf(source), watchOf(watch), { ...quote, ...more });
    expect(price).toMatchObject({ rateCredits, priceBookVersion });
  });

  it('is the present price of a watch whose quote has the present price book', () => {
    const price = checkPriceOf(connector, searchOf('x'), watchOf());
    expect(price).toEqual({
      ...{ rateCredits: 5, maxUnits: 3, firstScan: false },
      priceBookVersion: PRICE_BOOK_VERSION,
    });
  });
});
