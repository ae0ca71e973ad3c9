import { numberOf, recordOf, textOf, type JsonRecord } from '../shared/shape.js';

/** An amount with its currency. */
export interface Money {
  /** A decimal number with at least two places, so that equal prices are equal texts: `12.50`. */
  amount: string;
  /** The currency as Vinted wrote it. It is not always ISO 4217: see `isInCurrency`. */
  currency: string;
}

/**
 * Returns the price that the market shows for a listing. Vinted's formats are `{amount, currency_code}` (from 2025),
 * `"35.0"` with a `currency` (2023), `"4,00 €"` with a `price_numeric` (2021), or a number. A price without a currency
 * gets the market's currency. Undefined if there is no price.
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
 * Returns the seller's price, if the listing comes from a market with another currency. The seller's price does not
 * change with the exchange rate; the price that the market shows does.
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
 * True if a price has changed. If the currency differs, Vinted has only begun or stopped converting the price, so the
 * price has not changed.
 */
export function isPriceChange(from: Money, to: Money): boolean {
  return from.currency === to.currency && from.amount !== to.amount;
}

/**
 * Converts a number, or a text that contains a number, to a decimal number with at least two places. Returns undefined
 * if there is no number.
 */
export function decimalOf(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.trim() : String(numberOf(value) ?? '');
  if (/^\d+(\.\d+)?$/.test(text)) return normalized(text);
  // Formats for people: "4,00 €", "1.234,50 zł", "$1,234.50". Only a separator before the last one or two digits
  // separates decimals; all others separate thousands.
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
