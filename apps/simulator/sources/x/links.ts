import { charactersFrom } from '../../world/random.js';

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Letters and digits that follow from what they stand for. */
export function alphanumericOf(what: string, length: number): string {
  return charactersFrom(what, ALPHANUMERIC, length);
}

/** What X puts in the place of an address: always 23 characters. */
export function shortLink(address: string): string {
  return `https://t.co/${alphanumericOf(`t.co ${address}`, 10)}`;
}

/** An address as entities explain it. */
export function linkEntity(address: string): { url: string; expanded_url: string; display_url: string } {
  const path = address.replace(/^https?:\/\/(www\.)?/, '');
  return {
    url: shortLink(address),
    expanded_url: address,
    display_url: path.length > 28 ? `${path.slice(0, 27)}…` : path,
  };
}
