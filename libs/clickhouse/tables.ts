import { NO_ID } from './rows.js';

/**
 * The tables, created when a service starts. All except `table_versions` follow a stream, and can be rebuilt from the
 * messages that the stream still has. The key of a row is derived from its fact, so a row that is written twice is
 * stored once in the end. Merges delete the copy, and until then reads drop the copy. Additions to a released table are
 * separate statements.
 */
export const TABLES: readonly string[] = [
  // GET /v1/mentions and a keyword's results read one account, newest first. With the small granule, a read of 50 rows
  // reads only a few granules (measured over 10 million rows: 6 ms, and 20 ms with the default granule).
  `CREATE TABLE IF NOT EXISTS mentions (
    account_id UUID,
    occurred_at DateTime64(3, 'UTC'),
    event_id UUID,
    keyword_id UUID,
    watch_id UUID,
    search_id UUID,
    check_id UUID,
    source LowCardinality(String),
    type LowCardinality(String),
    kind LowCardinality(String),
    item_id String,
    url String,
    title String,
    text String,
    author Nullable(String),
    author_name Nullable(String),
    author_url Nullable(String),
    vip Bool,
    community Nullable(String),
    lang LowCardinality(Nullable(String)),
    published_at Nullable(DateTime64(3, 'UTC')),
    backfilled Bool,
    matches String,
    matched_terms Array(String),
    match_mode LowCardinality(String),
    likes Nullable(Int32),
    replies Nullable(Int32),
    shares Nullable(Int32),
    views Nullable(Int32),
    score Nullable(Int32),
    media String,
    labels Array(LowCardinality(String)),
    sentiment LowCardinality(String),
    intent LowCardinality(String),
    bucket String,
    rules Array(String),
    dropped_reason LowCardinality(String),
    dropped_rule String,
    verdicts String,
    version UInt64,
    INDEX by_id event_id TYPE bloom_filter GRANULARITY 4,
    INDEX by_keyword keyword_id TYPE set(100) GRANULARITY 1
  ) ENGINE = ReplacingMergeTree(version)
  PARTITION BY toYYYYMM(occurred_at)
  ORDER BY (account_id, occurred_at, event_id)
  SETTINGS index_granularity = 1024`,

  // GET …/watches/{id}/events and replays read one watch, oldest first, with the exact bytes of each envelope. A
  // granule has 256 rows, because a watch has few events among millions.
  `CREATE TABLE IF NOT EXISTS events (
    watch_id UUID,
    occurred_at DateTime64(3, 'UTC'),
    event_id UUID,
    account_id UUID,
    push Bool,
    envelope String CODEC(ZSTD(1))
  ) ENGINE = ReplacingMergeTree
  ORDER BY (watch_id, occurred_at, event_id)
  TTL toDateTime(occurred_at) + INTERVAL 90 DAY
  SETTINGS index_granularity = 256`,

  // GET /v1/keywords/{id}/activity reads one keyword (or lone watch), newest first.
  `CREATE TABLE IF NOT EXISTS activity (
    account_id UUID,
    keyword_id UUID,
    occurred_at DateTime64(3, 'UTC'),
    activity_id UUID,
    watch_id UUID,
    source LowCardinality(String),
    type LowCardinality(String),
    events_emitted Nullable(Int32),
    credits_charged Nullable(Int32),
    event_id Nullable(UUID),
    status_code Nullable(Int32),
    message String
  ) ENGINE = ReplacingMergeTree
  ORDER BY (account_id, keyword_id, occurred_at, activity_id)
  TTL toDateTime(occurred_at) + INTERVAL 90 DAY
  SETTINGS index_granularity = 1024`,

  // Vinted's listing of a mention, as JSON; empty for other sources.
  `ALTER TABLE mentions ADD COLUMN IF NOT EXISTS listing String CODEC(ZSTD(1))`,

  // True if a part of the item was cut to the size limits.
  `ALTER TABLE mentions ADD COLUMN IF NOT EXISTS truncated Bool`,

  // A mention is a versioned row. Version 0 is written from the event. Each decision of a person writes a later
  // version, whose number is the sequence of the decision in the stream LABELS. Corrections have their own columns
  // beside the analysed values. Reads use FINAL, or choose the latest version themselves. The engine of a table that an
  // earlier release created has no version: in such a table, the row that was written last remains.
  `ALTER TABLE mentions ADD COLUMN IF NOT EXISTS version UInt64,
    ADD COLUMN IF NOT EXISTS corrected_sentiment LowCardinality(String),
    ADD COLUMN IF NOT EXISTS corrected_intent LowCardinality(String),
    ADD COLUMN IF NOT EXISTS corrected_relevance Nullable(UInt8)`,

  // Market days are computed from one account, one market and one day. A listing's price history uses the index by
  // listing.
  `CREATE TABLE IF NOT EXISTS listing_observations (
    account_id UUID,
    market LowCardinality(String),
    observed_at DateTime64(3, 'UTC'),
    criteria_hash String,
    listing_id String,
    event LowCardinality(String),
    keyword_id UUID,
    watch_id UUID,
    price Decimal(18, 4),
    previous_price Nullable(Decimal(18, 4)),
    currency LowCardinality(String),
    title String CODEC(ZSTD(1)),
    url String CODEC(ZSTD(1)),
    brand LowCardinality(String),
    brand_ids Array(String),
    catalog_ids Array(String),
    first_seen_at DateTime64(3, 'UTC'),
    INDEX by_listing listing_id TYPE bloom_filter GRANULARITY 1
  ) ENGINE = ReplacingMergeTree
  PARTITION BY toYYYYMM(observed_at)
  ORDER BY (account_id, market, toDate(observed_at), criteria_hash, listing_id, observed_at, event, watch_id)
  SETTINGS index_granularity = 1024`,

  // GET /v1/vinted/market-stats reads some days of one scope (search, keyword, brand or catalogue). Quantiles are
  // stored as states, so a day with a million prices is read in milliseconds. A price is in ten-thousandths. Of several
  // rows of a day, the one with the latest `counted_at` is correct.
  `CREATE TABLE IF NOT EXISTS market_days (
    account_id UUID,
    market LowCardinality(String),
    scope LowCardinality(String),
    scope_id String,
    date Date,
    currency LowCardinality(String),
    counted_at DateTime64(3, 'UTC'),
    n UInt64,
    new_listings UInt64,
    delisted UInt64,
    price_changes UInt64,
    lowest Int64,
    highest Int64,
    total Int64,
    prices AggregateFunction(quantilesExactWeightedInterpolated(0.25, 0.5, 0.75), Int64, UInt8),
    seconds_to_delist AggregateFunction(quantilesExactWeightedInterpolated(0.5), Int64, UInt8)
  ) ENGINE = ReplacingMergeTree(counted_at)
  ORDER BY (account_id, scope, scope_id, market, date, currency)
  SETTINGS index_granularity = 64`,

  // GET …/answers reads the stored answers of one watch or keyword, newest first.
  `CREATE TABLE IF NOT EXISTS answers (
    account_id UUID,
    keyword_id UUID,
    watch_id UUID,
    check_id UUID,
    engine LowCardinality(String),
    model LowCardinality(String),
    market LowCardinality(String),
    prompt String,
    answered_at DateTime64(3, 'UTC'),
    text String CODEC(ZSTD(3)),
    citations String CODEC(ZSTD(3)),
    queries Array(String)
  ) ENGINE = ReplacingMergeTree
  ORDER BY (account_id, watch_id, answered_at, engine)
  SETTINGS index_granularity = 256`,

  // An event's position in EVENTS, and its type, for replays. Older rows have 0 and an empty type until the consumer
  // that writes this table has processed their events again. The ClickHouse index `by_id` finds a single event that is
  // sent again.
  `ALTER TABLE events ADD COLUMN IF NOT EXISTS stream_seq UInt64, ADD COLUMN IF NOT EXISTS type LowCardinality(String)`,
  `ALTER TABLE events ADD INDEX IF NOT EXISTS by_id event_id TYPE bloom_filter GRANULARITY 4`,

  // GET /v1/deliveries reads one account, newest delivery first, with all attempts of a delivery together.
  `CREATE TABLE IF NOT EXISTS attempts (
    account_id UUID,
    first_at DateTime64(3, 'UTC'),
    event_id UUID,
    target_kind LowCardinality(String),
    target_id UUID,
    at DateTime64(3, 'UTC'),
    attempt_id UUID,
    keyword_id UUID,
    watch_id UUID,
    source LowCardinality(String),
    endpoint LowCardinality(String),
    number Int32,
    duration_ms Int32,
    status_code Int32,
    delivered Bool,
    message String,
    next_attempt_at Nullable(DateTime64(3, 'UTC')),
    INDEX by_event event_id TYPE bloom_filter GRANULARITY 1
  ) ENGINE = ReplacingMergeTree
  ORDER BY (account_id, first_at, event_id, target_kind, target_id, at, attempt_id)
  TTL toDateTime(at) + INTERVAL 90 DAY
  SETTINGS index_granularity = 1024`,

  // The readings of a mention. An empty sentiment or intent, or a null relevance, means that no reader read it.
  // `readings` is JSON for /why: how each reading was made. `explore_id` is the id of the Explore that found the item.
  `ALTER TABLE mentions ADD COLUMN IF NOT EXISTS sentiment_score Nullable(Float32),
    ADD COLUMN IF NOT EXISTS relevance Nullable(UInt8),
    ADD COLUMN IF NOT EXISTS relevance_reason String,
    ADD COLUMN IF NOT EXISTS reading_reason String,
    ADD COLUMN IF NOT EXISTS reader LowCardinality(String),
    ADD COLUMN IF NOT EXISTS reader_model LowCardinality(String),
    ADD COLUMN IF NOT EXISTS reader_version LowCardinality(String),
    ADD COLUMN IF NOT EXISTS bucket_label String,
    ADD COLUMN IF NOT EXISTS co_brands Array(String),
    ADD COLUMN IF NOT EXISTS ai String CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS story_id String,
    ADD COLUMN IF NOT EXISTS explore_id UUID,
    ADD COLUMN IF NOT EXISTS readings String CODEC(ZSTD(1))`,

  // A query with mode=semantic reads the vectors of mentions, by account, model and time. The scan reads all vectors of
  // the window (256 bytes each), so the row has only what it needs to find candidates. The rest is read from
  // `mentions`. Vectors are not compressed: compression makes the bfloat16 numbers of unit vectors only a little
  // smaller, and reading them would take longer.
  `CREATE TABLE IF NOT EXISTS mention_vectors (
    account_id UUID,
    model LowCardinality(String),
    occurred_at DateTime64(3, 'UTC'),
    event_id UUID,
    keyword_id UUID,
    source LowCardinality(String),
    dropped Bool,
    embedding Array(BFloat16) CODEC(NONE),
    words Array(UInt32) CODEC(LZ4)
  ) ENGINE = ReplacingMergeTree
  PARTITION BY toYYYYMM(occurred_at)
  ORDER BY (account_id, model, occurred_at, event_id)
  SETTINGS index_granularity = 1024`,
  `ALTER TABLE mentions ADD INDEX IF NOT EXISTS by_explore explore_id TYPE bloom_filter GRANULARITY 4`,

  // The result of each rule, as JSON for /why, and the values that only clauses of rules read.
  `ALTER TABLE mentions ADD COLUMN IF NOT EXISTS rule_outcomes String CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS author_followers Nullable(Float64),
    ADD COLUMN IF NOT EXISTS title_of_parent Bool`,

  // A backtest needs to know which mentions were never counted for alerts, because their time is unknown or too long
  // ago. False in rows of earlier releases.
  'ALTER TABLE mentions ADD COLUMN IF NOT EXISTS never_counted Bool',

  // The channel of an attempt to a channel.
  `ALTER TABLE activity ADD COLUMN IF NOT EXISTS channel_id UUID,
    ADD COLUMN IF NOT EXISTS channel_kind LowCardinality(String)`,

  // The period of a check, for the coverage of a search. Null in rows of earlier releases.
  `ALTER TABLE activity ADD COLUMN IF NOT EXISTS window_from Nullable(DateTime64(3, 'UTC')),
    ADD COLUMN IF NOT EXISTS window_to Nullable(DateTime64(3, 'UTC')),
    ADD COLUMN IF NOT EXISTS gap Bool`,

  // Mentions that an Explore found are deleted 90 days after they occurred. Other mentions are kept until their keyword
  // is purged.
  `ALTER TABLE mentions MODIFY TTL toDateTime(occurred_at) + INTERVAL 90 DAY DELETE WHERE explore_id != '${NO_ID}'`,
  'ALTER TABLE mention_vectors ADD COLUMN IF NOT EXISTS explored Bool',
  'ALTER TABLE mention_vectors MODIFY TTL toDateTime(occurred_at) + INTERVAL 90 DAY DELETE WHERE explored',
  // Marks the vectors of Explores that were stored before this column existed: they have no keyword and no mention of a
  // watch. The statement leaves out the last day, because a mention can be written after its vector.
  `ALTER TABLE mention_vectors UPDATE explored = true
   WHERE NOT explored AND keyword_id = '${NO_ID}' AND occurred_at < now() - INTERVAL 1 DAY AND event_id NOT IN (
     SELECT event_id FROM mentions WHERE keyword_id = '${NO_ID}' AND explore_id = '${NO_ID}')`,
  // An update does not calculate the expiry of a part's rows again. These statements do, without writing the part
  // again.
  'ALTER TABLE mention_vectors MODIFY SETTING materialize_ttl_recalculate_only = 1',
  'ALTER TABLE mention_vectors MATERIALIZE TTL',

  // A purge rewrites the parts from which it deletes rows. No read uses the old parts any more, so ClickHouse can
  // delete them after 10 seconds instead of eight minutes, the default. It looks for such parts at least every 30
  // seconds. By default, it looks less and less often on a quiet table, up to every five minutes.
  ...[
    ...['mentions', 'mention_vectors', 'events', 'activity', 'attempts'],
    ...['listing_observations', 'market_days', 'answers'],
  ].map(
    (table) => `ALTER TABLE ${table} MODIFY SETTING old_parts_lifetime = 10, max_cleanup_delay_period = 30`,
  ),

  // The hash of each list of statements that has run on this database.
  'CREATE TABLE IF NOT EXISTS table_versions (hash String) ENGINE = ReplacingMergeTree ORDER BY hash',
];
