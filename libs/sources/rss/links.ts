/** The address that a link in a feed leads to, or undefined where that is no http(s) address. */
export function resolveLink(link: string | undefined, base: string): string | undefined {
  if (link === undefined || link.trim() === '') return undefined;
  const url = parsed(link.trim(), base);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  return unwrapped(url).href;
}

/** A base address (`xml:base`, `Content-Location`) laid on the one around it; a broken one changes nothing. */
export function resolveBase(base: string | undefined, around: string): string {
  return (base === undefined ? undefined : parsed(base.trim(), around)?.href) ?? around;
}

/** True for an address that stands by itself. */
export function isAbsolute(link: string): boolean {
  return /^https?:\/\//i.test(link.trim());
}

// Google Alerts hide each address behind one of google.com.
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
