/** The modes in which a keyword sends several events to a channel together. */
export const DIGEST_MODES = ['hourly', 'daily', 'daily_brief', 'weekly_report'] as const;
export type DigestMode = (typeof DIGEST_MODES)[number];

/** Maximum number of items of one digest; `Digest.more` counts the further items. */
export const MAX_DIGEST_ITEMS = 50;

/**
 * One digest of one keyword for one channel: the body of a delivery whose target has the kind `digest`. A digest
 * contains no formatting: each kind of channel renders the digest when it is sent. Times are ISO 8601 UTC.
 */
export interface Digest {
  /** Derived from keyword, channel, mode and the start of the period; the `eventId` of the delivery. */
  id: string;
  mode: DigestMode;
  channelId: string;
  keyword: { id: string; name: string };
  /** `to` is exclusive. */
  period: { from: string; to: string };
  /** IANA zone of the account, in which times are shown. */
  timezone: string;
  /** Number of all items of the period. */
  total: number;
  /** Number of items that are neither in `priority` nor in `groups`. */
  more: number;
  /** Items of VIPs, and items with the label `to_reply`; they come first and are not repeated in `groups`. */
  priority: DigestItem[];
  groups: DigestGroup[];
  /** Only in a `daily_brief`. */
  summary: DigestSummary | null;
  /** Only in a `weekly_report`. */
  report: WeeklyReport | null;
}

/** One item. Texts are as the source wrote them: a renderer must escape them. */
export interface DigestItem {
  /** Id of the event and of its mention. */
  mentionId: string;
  source: string;
  kind: string;
  url: string | null;
  title: string;
  /** At most 300 characters. */
  excerpt: string;
  author: string | null;
  community: string | null;
  vip: boolean;
  labels: string[];
  publishedAt: string | null;
  occurredAt: string;
  /** Null if it was not read. */
  sentiment: string | null;
  intent: string | null;
  /** Absent in items that an earlier version stored. */
  event?: ItemEvent;
}

/** What has happened to an item: the part of its event that people must read to know whether the item is new. */
export interface ItemEvent {
  /** The type of the event, for example `listing.price_changed`. */
  type: string;
  /** Only of a listing. */
  price: number | null;
  /** Only of `listing.price_changed`. */
  previousPrice: number | null;
  /** Only of a listing. */
  currency: string | null;
  /** Only of `term.cited` and `term.uncited`. */
  brand: string | null;
}

/** The items of one bucket. */
export interface DigestGroup {
  /** Null for items without a bucket. */
  bucket: { key: string; label: string } | null;
  stories: DigestStory[];
}

/** The items of one story. */
export interface DigestStory {
  /** Null for an item without a story. */
  storyId: string | null;
  /** The first item represents the story. */
  items: DigestItem[];
}

/** A short summary. Each sentence names the mentions that it is taken from. */
export interface DigestSummary {
  sentences: { text: string; mentionIds: string[] }[];
  /** `local` or `llm` */
  reader: string;
}

/** The figures of one week of a keyword. */
export interface WeeklyReport {
  reportId: string;
  /** The address of the page of this report. The address ends with a secret token. */
  url: string;
  volume: {
    count: number;
    /** Number of mentions in the week before. */
    previous: number;
    /**
     * One entry for each of the seven days. A day begins at the time of the report in the account's zone, and `date`
     * (`YYYY-MM-DD`) is the date on which it begins. `previous` counts the same day of the week before.
     */
    days: { date: string; count: number; previous: number }[];
  };
  /** Counts of items. `unread` counts the items without a sentiment. */
  sentiment: { positive: number; neutral: number; negative: number; mixed: number; unread: number };
  /** Sorted by count, highest first. */
  sources: { source: string; count: number }[];
  /** At most 10. */
  authors: { author: string; source: string; count: number; vip: boolean }[];
  /** At most 10. */
  stories: { storyId: string; title: string; url: string | null; count: number }[];
  /** At most 20, oldest first. `name` is the rule's name, or `spike` and the level. */
  alerts: { at: string; name: string; observed: number; baseline: number }[];
}
