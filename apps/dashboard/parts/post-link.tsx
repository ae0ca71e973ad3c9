import type { ReactNode } from 'react';

/** The address as a link may have it; undefined for `javascript:` and everything else that is not the web. */
export function webAddress(url: string | null | undefined): string | undefined {
  if (!url || !URL.canParse(url)) return undefined;
  return /^https?:$/.test(new URL(url).protocol) ? url : undefined;
}

interface Props {
  url: string | null | undefined;
  className?: string;
  children: ReactNode;
}

/** A link to a post of a stranger: it opens apart, tells nothing about this page, and is plain text unless it is on the web. */
export function PostLink({ url, className, children }: Props) {
  const address = webAddress(url);
  if (!address) return <span className={className}>{children}</span>;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow" className={className}>
      {children}
    </a>
  );
}
