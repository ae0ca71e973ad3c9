/**
 * Names of projections and durable consumers. Other programs use these names to wait until a consumer has processed a
 * message, or to rebuild a projection. A name that only its owner uses is not here: it is a literal in the owner's code.
 */

/** Fills `accounts`, `api_keys`, `members` and `invitations` from ACCOUNTS, in Postgres. */
export const ACCOUNTS_PROJECTION = 'accounts-v1';
/** Fills `keywords`, `watches` and `quoted_periods` from KEYWORDS, in Postgres. */
export const KEYWORDS_PROJECTION = 'keywords-v1';

/** Fills `events` and `activity` from EVENTS, in ClickHouse. */
export const EVENTS_INDEX = 'events-index-v1';
/** Fills `mentions` from EVENTS, in ClickHouse. */
export const MENTIONS_SINK = 'mentions-sink-v1';
/** Fills `mention_vectors` from EVENTS, in ClickHouse. */
export const VECTORS_SINK = 'mention-vectors-v1';
/** Writes labels and corrections from LABELS into `mentions`, in ClickHouse. */
export const LABELS_SINK = 'labels-sink-v1';
/** Fills `activity` from CHECKS, in ClickHouse. */
export const CHECK_ACTIVITY_SINK = 'check-activity-sink-v1';
/** Fills `activity` from ATTEMPTS, in ClickHouse. */
export const ATTEMPT_ACTIVITY_SINK = 'attempt-activity-sink-v1';
/** Fills `attempts` from ATTEMPTS, in ClickHouse. */
export const ATTEMPTS_SINK = 'attempts-sink-v1';
/** Fills `listing_observations`, `market_days` and `answers` from CHECKS, in ClickHouse. */
export const OBSERVATIONS_SINK = 'observations-sink-v1';
/** Adds the items of EXPLORES to `mentions` and `mention_vectors`, in ClickHouse. */
export const EXPLORE_ITEMS_SINK = 'explore-items-sink-v1';
