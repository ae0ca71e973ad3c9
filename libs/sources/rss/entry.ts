/** Text of a feed and how to read it. */
export interface FeedText {
  value: string;
  /** True: mark-up and entities. False: as it stands. */
  html: boolean;
}

/** One entry, whatever the format of its feed. Links are as the feed writes them. */
export interface FeedEntry {
  guid?: string | undefined;
  /** Where the article is, the best candidate first. */
  links: string[];
  title?: FeedText | undefined;
  content?: FeedText | undefined;
  summary?: FeedText | undefined;
  /** The best candidate first; the first that can be read counts. */
  dates: string[];
  author?: string | undefined;
  categories: string[];
  media: { url: string; mimeType?: string | undefined; kind?: string | undefined }[];
  lang?: string | undefined;
  /** `xml:base`, on the entry. */
  base?: string | undefined;
}

/** A feed, whatever its format. */
export interface FeedContent {
  title?: FeedText | undefined;
  /** The site. */
  link?: string | undefined;
  author?: string | undefined;
  lang?: string | undefined;
  base?: string | undefined;
  /** Minutes that the feed asks not to be read again for. */
  ttl?: number | undefined;
  entries: FeedEntry[];
}

/** Text that is HTML by the custom of its format. */
export function htmlText(value: string | undefined): FeedText | undefined {
  return value === undefined ? undefined : { value, html: true };
}

/** The values that are there. */
export function present<T>(values: readonly (T | undefined)[]): T[] {
  return values.filter((value) => value !== undefined);
}
