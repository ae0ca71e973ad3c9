/** The id that means "none" (no keyword, search, Explore or channel) in a column that cannot be null. */
export const NO_ID = '00000000-0000-0000-0000-000000000000';

/** The result of a rule for a mention, as `/why` returns it. Null means: no value. */
export interface RuleView {
  ruleId: string;
  name: string;
  fired: boolean;
  clauses: { field: string; op: string; value: unknown; seen: unknown; holds: boolean }[];
  actions: string[];
}

/** A row of `mentions`. Columns with JSON contain text. */
export interface MentionRow {
  account_id: string;
  occurred_at: string;
  event_id: string;
  keyword_id: string;
  watch_id: string;
  search_id: string;
  check_id: string;
  source: string;
  type: string;
  kind: string;
  item_id: string;
  url: string;
  title: string;
  text: string;
  author: string | null;
  author_name: string | null;
  author_url: string | null;
  vip: boolean;
  community: string | null;
  lang: string | null;
  published_at: string | null;
  backfilled: boolean;
  /**
   * True if alerts never count the mention, because the time at which it appeared is unknown, or was 90 days or more
   * before it was found.
   */
  never_counted: boolean;
  /** JSON: `[{term, field, start, end}]` */
  matches: string;
  matched_terms: string[];
  match_mode: string;
  likes: number | null;
  replies: number | null;
  shares: number | null;
  views: number | null;
  score: number | null;
  /** JSON: `[{url, type}]` */
  media: string;
  labels: string[];
  /** Empty if it was not read. */
  sentiment: string;
  /** Empty if it was not read. */
  intent: string;
  /** The key of the bucket; empty if the mention is in no bucket. */
  bucket: string;
  /** Ids of the rules that fired. */
  rules: string[];
  /** JSON: `RuleView[]`; empty if no rule was checked. */
  rule_outcomes: string;
  /** Null if the source does not return this number. */
  author_followers: number | null;
  /** True if `title` is the title of the parent post. */
  title_of_parent: boolean;
  /** Empty unless the mention was dropped. */
  dropped_reason: string;
  dropped_rule: string;
  /** JSON: `[{step, value, hit, detail}]` */
  verdicts: string;
  /** JSON: the envelope's listing; empty for all sources except vinted. */
  listing: string;
  /** True if a part of the item was cut to the size limits. */
  truncated: boolean;
  /**
   * The sequence in the stream LABELS of the last decision of a person about the mention; 0 if there is no decision.
   */
  version: number;
  /** -1 to 1 */
  sentiment_score: number | null;
  /** 0 to 100 */
  relevance: number | null;
  relevance_reason: string;
  /** Why the reader chose this relevance, sentiment and intent: a text for people. Empty if nothing classified it. */
  reading_reason: string;
  /** local or llm. Reader, model and version are empty if nothing classified the mention. */
  reader: string;
  reader_model: string;
  reader_version: string;
  bucket_label: string;
  co_brands: string[];
  /** JSON: the envelope's `ai`; empty without an agent step. */
  ai: string;
  story_id: string;
  /** `NO_ID` unless an Explore found the mention. */
  explore_id: string;
  /** JSON: `[{kind, reader, model, version, promptVersion, durationMs, costCredits, detail}]` */
  readings: string;
  /** The sentiment that a person has set; otherwise empty. */
  corrected_sentiment: string;
  /** The intent that a person has set; otherwise empty. */
  corrected_intent: string;
  corrected_relevance: number | null;
}

/** A row of `mention_vectors`. */
export interface MentionVectorRow {
  account_id: string;
  /** The model of the vector. */
  model: string;
  occurred_at: string;
  event_id: string;
  /** `NO_ID` for a watch without a keyword, and for an Explore. */
  keyword_id: string;
  source: string;
  dropped: boolean;
  /** Whether an Explore found the mention. */
  explored: boolean;
  /** A unit vector. */
  embedding: number[];
  /** Hashes of the mention's words. */
  words: number[];
}

/** A row of `events`. */
export interface EventRow {
  watch_id: string;
  occurred_at: string;
  event_id: string;
  account_id: string;
  push: boolean;
  type: string;
  /** The event's sequence in EVENTS; 0 for rows that were written before this column existed. */
  stream_seq: number;
  envelope: string;
}

/** A row of `attempts`: one attempt of a delivery (one event to one target). */
export interface AttemptRow {
  account_id: string;
  /** The time of the delivery's first attempt. */
  first_at: string;
  event_id: string;
  target_kind: string;
  target_id: string;
  at: string;
  attempt_id: string;
  keyword_id: string;
  watch_id: string;
  source: string;
  endpoint: string;
  number: number;
  duration_ms: number;
  /** 0 if there was no response. */
  status_code: number;
  delivered: boolean;
  message: string;
  next_attempt_at: string | null;
}

/** A row of `activity`. */
export interface ActivityRow {
  account_id: string;
  keyword_id: string;
  occurred_at: string;
  activity_id: string;
  watch_id: string;
  source: string;
  type: string;
  events_emitted: number | null;
  credits_charged: number | null;
  event_id: string | null;
  status_code: number | null;
  message: string;
  /** Only for an attempt to a channel and for a disabled channel; otherwise absent or `NO_ID`. */
  channel_id?: string;
  channel_kind?: string;
  /** The period that a check read, if the check did not fail. `window_from` is null for a first check. */
  window_from?: string | null;
  window_to?: string | null;
  /** True if items of the period can be missing, for example because there were more than the check could read. */
  gap?: boolean;
}

/** A row of `listing_observations`. Prices are decimal numbers as text. */
export interface ListingObservationRow {
  account_id: string;
  /** `NO_ID` for a watch without a keyword. */
  keyword_id: string;
  watch_id: string;
  criteria_hash: string;
  market: string;
  listing_id: string;
  observed_at: string;
  /** seen, created, price_changed, delisted */
  event: string;
  price: string;
  previous_price: string | null;
  currency: string;
  title: string;
  url: string;
  brand: string;
  brand_ids: string[];
  catalog_ids: string[];
  first_seen_at: string;
}

/** A row of `answers`. */
export interface AnswerRow {
  account_id: string;
  keyword_id: string;
  watch_id: string;
  check_id: string;
  engine: string;
  model: string;
  market: string;
  prompt: string;
  answered_at: string;
  text: string;
  /** JSON: `[{url, title}]` */
  citations: string;
  queries: string[];
}
