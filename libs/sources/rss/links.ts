/** The absolute address of a link in a feed, or undefined if it is not an http(s) address. */
export function resolveLink(link: string | undefined, base: string): string | undefined {
  if (link === undefined || link.trim() === '') return undefined;
  const url = parsed(link.trim(), base);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  return unwrapped(url).href;
}

/**
 * Resolves a base address (`xml:base`, `Content-Location`) against the outer base address. Returns the outer one if
 * `base` is absent or invalid.
 */
export function resolveBase(base: string | undefined, around: string): string {
  return (base === undefined ? undefined : parsed(base.trim(), around)?.href) ?? around;
}

/** True for an absolute address. */
export function isAbsolute(link: string): boolean {
  return /^https?:\/\//i.test(link.trim());
}

// Google Alerts put each address into an address of google.com.
function unwrapped(url: URL): URL {
  if (!/(^|\.)google\.[a-z.]+$/.test(url.hostname) || url.pathname !== '/url') return url;
  const hidden = url.searchParams.get('url') ?? url.searchParams.get('q') ?? '';
  return isAbsolute(hidden) ? (parsed(hidden, url.href) ?? url) : url;
}

function parsed(link: string, base: string): URL | undefined {
  try {
    return new URL(link, base);
  } catch {
    return undefined;
  }
}
