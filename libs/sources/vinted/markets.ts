import type { Criteria } from '#contracts';
import type { Fault } from '#kernel';

/** Vinted's site for one country, with prices in its own currency. */
export interface Market {
  /** The code in events: `fr`, `uk`, `us`. */
  code: string;
  /** The origin of all addresses of the market, without a trailing slash. */
  origin: string;
  /** ISO 4217. */
  currency: string;
}

// Vinted's sites by code, with their currencies. `ENDINGS` has the part after "vinted." if it differs from the code.
const CURRENCIES: Readonly<Record<string, string>> = {
  at: 'EUR',
  be: 'EUR',
  cz: 'CZK',
  de: 'EUR',
  dk: 'DKK',
  ee: 'EUR',
  es: 'EUR',
  fi: 'EUR',
  fr: 'EUR',
  gr: 'EUR',
  hr: 'EUR',
  hu: 'HUF',
  ie: 'EUR',
  it: 'EUR',
  lt: 'EUR',
  lu: 'EUR',
  lv: 'EUR',
  nl: 'EUR',
  pl: 'PLN',
  pt: 'EUR',
  ro: 'RON',
  se: 'SEK',
  si: 'EUR',
  sk: 'EUR',
  uk: 'GBP',
  us: 'USD',
};
const ENDINGS: Readonly<Record<string, string>> = { uk: 'co.uk', us: 'com' };
const ALIASES: Readonly<Record<string, string>> = { 'co.uk': 'uk', gb: 'uk', com: 'us' };

/** Returns the market with this code (`fr`, `uk`, `us`) or other name (`gb`, `co.uk`, `com`); undefined if there is none. */
export function marketOf(text: string | undefined): Market | undefined {
  const named = text?.trim().toLowerCase() ?? '';
  const code = ALIASES[named] ?? named;
  const currency = Object.hasOwn(CURRENCIES, code) ? CURRENCIES[code] : undefined;
  if (currency === undefined) return undefined;
  return { code, origin: `https://www.vinted.${ENDINGS[code] ?? code}`, currency };
}

/** Returns the fault of a search without a market, or with a market that Vinted does not have. */
export function faultsOfMarket({ market }: Criteria): Fault[] {
  if (marketOf(market)) return [];
  const known = Object.keys(CURRENCIES).join(', ');
  const named = market?.trim() ?? '';
  if (named === '')
    return [{ path: 'market', message: `a search on vinted needs a market: one of ${known}` }];
  const message = `vinted has no market "${named}"; its markets are ${known}`;
  return [{ path: 'market', message, code: 'MARKET_DISABLED' }];
}
