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

/** What a watch has from its keyword, or by itself. */
export interface WatchOwner {
  keywordId: string | null;
  webhookUrl: string | null;
  webhookMode: string;
  ai: AgentStep | undefined;
  analysis: boolean;
}

/** Begins watches, and tells those that go on what they are from now on. They rest where their keyword does. */
export async function putWatches(
  tx: Tx,
  { accountId, decidedAt }: KeywordDecision,
  watches: readonly Watch[],
  owner: WatchOwner,
): Promise<void> {
  for (const watch of watches)
    await tx.query(
      `INSERT INTO watches AS w (watch_id, account_id, keyword_id, search_id, source, criteria, criteria_hash,
         interval_seconds, webhook_url, webhook_mode, ai, analysis, backfill, disabled, credits_per_check,
         first_scan_credits, price_book_version, paused_reason, is_active, created_at, updated_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
         (SELECT k.paused_reason FROM keywords k WHERE k.keyword_id = $3::uuid),
         NOT $14 AND NOT EXISTS (SELECT 1 FROM keywords k WHERE k.keyword_id = $3::uuid AND k.state <> 'active'),
         $18, $18)
       ON CONFLICT (watch_id) DO UPDATE SET
         search_id = excluded.search_id, interval_seconds = excluded.interval_seconds,
         webhook_url = excluded.webhook_url, webhook_mode = excluded.webhook_mode, ai = excluded.ai,
         analysis = excluded.analysis, disabled = excluded.disabled, credits_per_check = excluded.credits_per_check,
         price_book_version = excluded.price_book_version, is_active = excluded.is_active,
         paused_reason = excluded.paused_reason,
         updated_at = CASE WHEN w.interval_seconds = excluded.interval_seconds AND w.disabled = excluded.disabled
           AND w.webhook_url IS NOT DISTINCT FROM excluded.webhook_url THEN w.updated_at ELSE excluded.updated_at END`,
      [
        watch.watchId,
        accountId,
        owner.keywordId,
        watch.searchId || null,
        watch.source,
        JSON.stringify(watch.criteria ? criteriaJson(watch.criteria) : {}),
        watch.criteriaHash,
        watch.intervalSeconds,
        owner.webhookUrl,
        owner.webhookMode,
        owner.ai ? JSON.stringify(toJson(AgentStepSchema, owner.ai)) : null,
        owner.analysis,
        watch.backfill,
        watch.disabled,
        watch.creditsPerCheck,
        watch.firstScanCredits,
        watch.priceBookVersion,
        decidedAt,
      ],
    );
}

/** A lone watch's interval and webhook; whether it rests is told apart. */
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

export async function retireWatches(
  tx: Tx,
  column: 'keyword_id' | 'watch_id',
  ids: readonly string[],
  at: string,
): Promise<void> {
  await tx.query(
    `UPDATE watches SET is_active = false, paused_reason = NULL, retired_at = $2, updated_at = $2
     WHERE ${column} = ANY ($1) AND retired_at IS NULL`,
    [ids, at],
  );
}
