import { charactersFrom } from '../../world/random.js';

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Returns letters and digits that are derived from the text. */
export function alphanumericOf(what: string, length: number): string {
  return charactersFrom(what, ALPHANUMERIC, length);
}

/** Returns the short link with which X replaces an address. It always has 23 characters. */
export function shortLink(address: string): string {
  return `https://t.co/${alphanumericOf(`t.co ${address}`, 10)}`;
}

/** Returns the entity of an address, without its position. */
export function linkEntity(address: string): { url: string; expanded_url: string; display_url: string } {
  const path = address.replace(/^https?:\/\/(www\.)?/, '');
  return {
    url: shortLink(address),
    expanded_url: address,
    display_url: path.length > 28 ? `${path.slice(0, 27)}…` : path,
  };
}
