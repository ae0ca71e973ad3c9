/**
 * Returns the absolute address of a link in a feed. A redirect of Google Alerts is replaced by its target. Returns
 * undefined if the link is empty or is not an http(s) address.
 */
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
export function resolveBase(base: string | undefined, outer: string): string {
  return (base === undefined ? undefined : parsed(base.trim(), outer)?.href) ?? outer;
}

/** True for an absolute http(s) address. */
export function isAbsolute(link: string): boolean {
  return /^https?:\/\//i.test(link.trim());
}

// Google Alerts puts each link into an address of a Google domain.
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
