import type { ReactNode } from 'react';

/** The address if a link may use it; undefined for `javascript:` and all other schemes except http and https. */
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
 * A link to a post of a stranger. It opens in a new tab and sends no data about this page. Without a web address it is
 * plain text.
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
