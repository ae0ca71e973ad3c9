const DEFAULT_PATH = '/feed';

/**
 * Returns the page to open after the sign-in, as a path of this site. Addresses of other sites are ignored, because a
 * link from a stranger could contain such an address.
 * @param origin the origin of this site, such as `https://earshot.example`
 */
export function addressToReturnTo(given: string | null, origin: string): string {
  if (!given?.startsWith('/') || !URL.canParse(given, origin)) return DEFAULT_PATH;
  const { pathname, search, hash, origin: givenOrigin } = new URL(given, origin);
  // `/.//example.net` has the path `//example.net`, which a browser would treat as the address of another site.
  return givenOrigin === origin && !pathname.startsWith('//') ? pathname + search + hash : DEFAULT_PATH;
}
