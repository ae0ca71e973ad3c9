import { toJson } from '@bufbuild/protobuf';
import {
  AgentStepSchema,
  type AgentStep,
  type KeywordDecision,
  type Watch,
  type WatchChanged,
} from '#contracts';
import { criteriaJson } from '#criteria';
import type { Tx } from '#postgres';

/** The columns of a watch whose values come from its keyword; for a watch without a keyword, from the watch itself. */
export interface WatchOwner {
  keywordId: string | null;
  webhookUrl: string | null;
  webhookMode: string;
  ai: AgentStep | undefined;
  analysis: boolean;
}

/** The watches of one owner in a decision. */
export interface OwnedWatches {
  decision: KeywordDecision;
  watches: readonly Watch[];
  owner: WatchOwner;
}

/**
 * Inserts new watches and updates existing watches. If the keyword of a watch is paused, the watch is paused. A new
 * watch without a keyword runs.
 */
export async function putWatches(tx: Tx, owned: readonly OwnedWatches[]): Promise<void> {
  const rows = owned.flatMap(({ decision, watches, owner }) =>
    watches.map((watch) => rowOf(watch, owner, decision)),
  );
  if (rows.length === 0) return;
  await tx.query(
    `INSERT INTO watches AS w (watch_id, account_id, keyword_id, search_id, source, criteria, criteria_hash,
       interval_seconds, webhook_url, webhook_mode, ai, analysis, backfill, disabled, credits_per_check,
       first_scan_credits, price_book_version, paused_reason, is_active, created_at, updated_at)
     SELECT n.watch_id, n.account_id, n.keyword_id, n.search_id, n.source, n.criteria, n.criteria_hash,
       n.interval_seconds, n.webhook_url, n.webhook_mode, n.ai, n.analysis, n.backfill, n.disabled, n.credits_per_check,
       n.first_scan_credits, n.price_book_version, k.paused_reason,
       NOT n.disabled AND (n.keyword_id IS NULL OR k.state = 'active'), n.decided_at, n.decided_at
     FROM jsonb_to_recordset($1) AS n (watch_id uuid, account_id uuid, keyword_id uuid, search_id uuid, source text,
         criteria jsonb, criteria_hash text, interval_seconds int, webhook_url text, webhook_mode text, ai jsonb,
         analysis boolean, backfill boolean, disabled boolean, credits_per_check int, first_scan_credits int,
         price_book_version text, decided_at timestamptz)
       LEFT JOIN LATERAL (
         SELECT keyword_id, state, paused_reason FROM keywords WHERE keyword_id = n.keyword_id OFFSET 0) AS k ON true
     WHERE n.keyword_id IS NULL OR k.keyword_id IS NOT NULL
     ON CONFLICT (watch_id) DO UPDATE SET
       search_id = excluded.search_id, interval_seconds = excluded.interval_seconds,
       webhook_url = excluded.webhook_url, webhook_mode = excluded.webhook_mode, ai = excluded.ai,
       analysis = excluded.analysis, disabled = excluded.disabled, credits_per_check = excluded.credits_per_check,
       price_book_version = excluded.price_book_version, is_active = excluded.is_active,
       paused_reason = excluded.paused_reason,
       updated_at = CASE WHEN w.interval_seconds = excluded.interval_seconds AND w.disabled = excluded.disabled
         AND w.webhook_url IS NOT DISTINCT FROM excluded.webhook_url THEN w.updated_at ELSE excluded.updated_at END`,
    [JSON.stringify(rows)],
  );
}

function rowOf(watch: Watch, owner: WatchOwner, { accountId, decidedAt }: KeywordDecision) {
  return {
    watch_id: watch.watchId,
    account_id: accountId,
    keyword_id: owner.keywordId,
    search_id: watch.searchId || null,
    source: watch.source,
    criteria: watch.criteria ? criteriaJson(watch.criteria) : {},
    criteria_hash: watch.criteriaHash,
    interval_seconds: watch.intervalSeconds,
    webhook_url: owner.webhookUrl,
    webhook_mode: owner.webhookMode,
    ai: owner.ai ? toJson(AgentStepSchema, owner.ai) : null,
    analysis: owner.analysis,
    backfill: watch.backfill,
    disabled: watch.disabled,
    credits_per_check: watch.creditsPerCheck,
    first_scan_credits: watch.firstScanCredits,
    price_book_version: watch.priceBookVersion,
    decided_at: decidedAt,
  };
}

/**
 * Changes the interval and the webhook of a watch without a keyword. A change of `isActive` is applied by the caller.
 */
export async function changeWatch(
  tx: Tx,
  { subjectId, decidedAt }: KeywordDecision,
  { intervalSeconds, webhookUrl }: WatchChanged,
): Promise<void> {
  await tx.query(
    `UPDATE watches SET
       interval_seconds = COALESCE($2, interval_seconds),
       webhook_url = CASE WHEN $3::text IS NULL THEN webhook_url ELSE NULLIF($3, '') END,
       updated_at = $4
     WHERE watch_id = $1`,
    [subjectId, intervalSeconds ?? null, webhookUrl ?? null, decidedAt],
  );
}

/** Ends the watches that have one of these ids in the given column. */
export async function retireWatches(
  tx: Tx,
  column: 'keyword_id' | 'watch_id',
  ids: readonly string[],
  at: string,
): Promise<void> {
  await tx.query(
    `UPDATE watches SET is_active = false, paused_reason = NULL, pauses = '{}', retired_at = $2, updated_at = $2
     WHERE ${column} = ANY ($1) AND retired_at IS NULL`,
    [ids, at],
  );
}
