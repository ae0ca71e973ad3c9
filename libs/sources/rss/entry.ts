/** A text of a feed, and whether it is HTML. */
export interface FeedText {
  value: string;
  /** True: the text contains mark-up and entities. False: plain text. */
  html: boolean;
}

/** One entry of a feed of any format. Links are unchanged. */
export interface FeedEntry {
  guid?: string | undefined;
  /** Addresses of the article, the best candidate first. */
  links: string[];
  title?: FeedText | undefined;
  content?: FeedText | undefined;
  summary?: FeedText | undefined;
  /** The best candidate first. The first date that can be parsed is used. */
  dates: string[];
  author?: string | undefined;
  categories: string[];
  media: { url: string; mimeType?: string | undefined; kind?: string | undefined }[];
  lang?: string | undefined;
  /** `xml:base` of the entry. */
  base?: string | undefined;
}

/** A feed of any format. */
export interface FeedContent {
  title?: FeedText | undefined;
  /** The address of the feed's website. */
  link?: string | undefined;
  author?: string | undefined;
  lang?: string | undefined;
  base?: string | undefined;
  /** The feed asks not to be read again for this many minutes. */
  ttl?: number | undefined;
  entries: FeedEntry[];
}

/** Returns a text that is HTML according to its format. */
export function htmlText(value: string | undefined): FeedText | undefined {
  return value === undefined ? undefined : { value, html: true };
}

/** Returns the values without undefined. */
export function present<T>(values: readonly (T | undefined)[]): T[] {
  return values.filter((value) => value !== undefined);
}
