import { numberOf, recordOf, textOf, type JsonRecord } from '../shared/shape.js';

/** An amount with its currency. */
export interface Money {
  /** A decimal number with at least two places, so that equal prices are equal texts: `12.50`. */
  amount: string;
  /** ISO 4217, as Vinted wrote it: see `isInCurrency`. */
  currency: string;
}

/**
 * The price of a listing that its market shows, in any of Vinted's formats: `{amount, currency_code}` (from 2025),
 * `"35.0"` beside a `currency` (2023), `"4,00 €"` beside a `price_numeric` (2021), a number. Undefined if there is
 * none.
 */
export function priceOf(entry: JsonRecord, marketCurrency: string): Money | undefined {
  const money = recordOf(entry['price']);
  const amount = money
    ? decimalOf(money['amount'])
    : (decimalOf(entry['price_numeric']) ?? decimalOf(entry['price']));
  if (amount === undefined) return undefined;
  return { amount, currency: textOf(money?.['currency_code'] ?? entry['currency']) ?? marketCurrency };
}

/**
 * The seller's price, if the listing comes from a market with another currency. The shown price changes with the
 * exchange rate, this one does not.
 */
export function sellersPriceOf(entry: JsonRecord): Money | undefined {
  const conversion = recordOf(entry['conversion']);
  const amount = decimalOf(conversion?.['seller_price']);
  const currency = textOf(conversion?.['seller_currency']);
  return amount === undefined || currency === undefined ? undefined : { amount, currency };
}

/** True if the currency has the form of ISO 4217. */
export function isInCurrency({ currency }: Money): boolean {
  return /^[A-Z]{3}$/.test(currency);
}

/** True if amount and currency are equal. */
export function isSamePrice(a: Money, b: Money): boolean {
  return a.amount === b.amount && a.currency === b.currency;
}

/**
 * True if a price has changed. A change of the currency is not a change of price: Vinted began or stopped showing a
 * conversion, and the seller did nothing.
 */
export function isPriceChange(from: Money, to: Money): boolean {
  return from.currency === to.currency && from.amount !== to.amount;
}

/** A number, or a text with one, as a decimal with at least two places; undefined if there is none. */
export function decimalOf(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.trim() : String(numberOf(value) ?? '');
  if (/^\d+(\.\d+)?$/.test(text)) return normalized(text);
  // Formats of people: "4,00 €", "1.234,50 zł", "$1,234.50". Separators before the last one separate thousands.
  const shown = /^\D*(\d(?:[\d\s.,\u00a0\u202f]*\d)?)\D*$/.exec(text)?.[1]?.replace(/\s/g, '');
  if (typeof value !== 'string' || shown === undefined) return undefined;
  const fraction = /[.,](\d{1,2})$/.exec(shown)?.[1] ?? '';
  const whole = fraction === '' ? shown : shown.slice(0, -fraction.length - 1);
  return normalized(`${whole.replace(/[.,]/g, '')}.${fraction}`);
}

function normalized(decimal: string): string {
  const [whole = '', fraction = ''] = decimal.split('.');
  return `${whole.replace(/^0+(?=\d)/, '')}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`;
}
