/** The page to return to. Addresses of other sites are refused: a link could name one. */
export function addressToReturnTo(given: string | null): string {
  if (!given?.startsWith('/')) return '/feed';
  const url = new URL(given, location.origin);
  return url.origin === location.origin ? url.pathname + url.search + url.hash : '/feed';
}
