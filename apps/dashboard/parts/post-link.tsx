import type { ReactNode } from 'react';

/** Returns the address if its scheme is http or https; undefined for `javascript:` and all other schemes. */
export function webAddress(url: string | null | undefined): string | undefined {
  if (!url || !URL.canParse(url)) return undefined;
  return /^https?:$/.test(new URL(url).protocol) ? url : undefined;
}

interface Props {
  url: string | null | undefined;
  className?: string;
  children: ReactNode;
}

/**
 * Shows a link to a post of a stranger. The link opens a new tab and sends no data about this page. If the address is
 * not a web address, shows plain text.
 */
export function PostLink({ url, className, children }: Props) {
  const address = webAddress(url);
  if (!address) return <span className={className}>{children}</span>;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow" className={className}>
      {children}
    </a>
  );
}
