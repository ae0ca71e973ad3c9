import { seededRandom } from '../../world/random.js';
import type { SimPost } from '../../world/post.js';

/** Approximate value of one euro in each currency. */
const PER_EURO: Readonly<Record<string, number>> = {
  EUR: 1,
  PLN: 4.27,
  GBP: 0.86,
  USD: 1.09,
  CZK: 24.6,
  DKK: 7.46,
  SEK: 11.1,
  HUF: 391,
  RON: 5.06,
};
/** The fee for the conversion of currencies. */
const MARKUP = 0.012;
/** Maximum change of a rate from day to day. */
const DRIFT = 0.01;

/** A price, and its additional data. */
export interface Price {
  asked: Amount;
  fee: Amount;
  total: Amount;
  /** Null if the seller's currency is the currency of the site, or if the rate is unknown. */
  conversion: object | null;
  /** For screen readers. */
  asWords: string;
}

/** An amount of money in the site's format. */
export interface Amount {
  amount: string;
  currency_code: string;
}

/**
 * Returns the price in the currency of the site. If the seller uses another currency, the shown price changes with the
 * rate of the day. If the simulator does not know the rate, the price stays in the seller's currency.
 */
export function priceOf(post: SimPost, { currency, now }: { currency: string; now: Date }): Price {
  const rate = rateBetween(post.currency, currency, now);
  const cents = centsOf(post, { currency, now });
  const fee = Math.round(cents * 0.05) + 70;
  const shown = rate ? currency : post.currency;
  const money = (of: number): Amount => ({ amount: decimalOf(of), currency_code: shown });
  const words = (of: number) => `${(of / 100).toFixed(2).replace('.', ',')} ${shown === 'EUR' ? '€' : shown}`;
  return {
    asked: money(cents),
    fee: money(fee),
    total: money(cents + fee),
    conversion:
      rate === undefined || post.currency === currency
        ? null
        : {
            seller_price: decimalOf(post.priceCents),
            seller_currency: post.currency,
            buyer_currency: currency,
            fx_rounded_rate: String(Number(rate.toFixed(2))),
            fx_base_amount: '1.0',
            fx_markup_rate: String(MARKUP),
          },
    asWords: `${words(cents)}, ${words(cents + fee)} Protection acheteurs incluse`,
  };
}

/** Returns the shown price in cents of the site's currency, or of the seller's currency if the rate is unknown. */
export function centsOf(post: SimPost, { currency, now }: { currency: string; now: Date }): number {
  return Math.round(post.priceCents * (rateBetween(post.currency, currency, now) ?? 1));
}

/**
 * Returns the rate between two currencies, including the fee: 1 for the same currency, undefined if the simulator does
 * not know one of the two.
 */
function rateBetween(from: string, to: string, now: Date): number | undefined {
  if (from === to) return 1;
  const [sold, bought] = [PER_EURO[from], PER_EURO[to]];
  if (sold === undefined || bought === undefined) return undefined;
  const day = now.toISOString().slice(0, 10);
  const drift = 1 + DRIFT * (seededRandom('vinted rate', from, to, day)() - 0.5);
  return (bought / sold) * drift * (1 + MARKUP);
}

/** Returns an amount like `20.0` or `86.28`: a decimal number with at least one decimal place. */
function decimalOf(cents: number): string {
  return cents % 100 === 0 ? `${cents / 100}.0` : String(cents / 100);
}
