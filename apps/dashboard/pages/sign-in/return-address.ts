const DEFAULT_PATH = '/feed';

/**
 * The page to return to, as a path of this site. Addresses of other sites are refused, because a link from a stranger
 * could contain such an address.
 * @param origin of this site, such as `https://earshot.example`
 */
export function addressToReturnTo(given: string | null, origin: string): string {
  if (!given?.startsWith('/') || !URL.canParse(given, origin)) return DEFAULT_PATH;
  const { pathname, search, hash, origin: givenOrigin } = new URL(given, origin);
  // `/.//example.net` has the path `//example.net`, which would be another site if it was parsed again.
  return givenOrigin === origin && !pathname.startsWith('//') ? pathname + search + hash : DEFAULT_PATH;
}
