import { fromBinary, toJson } from '@bufbuild/protobuf';
import {
  AgentStepSchema,
  KeywordDecisionSchema,
  KeywordDefinitionSchema,
  type AgentStep,
  type KeywordCreated,
  type KeywordDecision,
  type KeywordEvent,
  type Watch,
} from '#contracts';
import { criteriaJson } from '#criteria';
import type { Tx } from '#postgres';
import type { Projection } from '#projections';

/** Keeps `keywords` and `watches` up to date with KEYWORDS. */
export const keywordsProjection: Projection = {
  name: 'keywords-v1',
  stream: 'KEYWORDS',
  async apply(tx, message) {
    const decision = fromBinary(KeywordDecisionSchema, message.data);
    for (const event of decision.events) await applyEvent(tx, decision, event);
  },
};

async function applyEvent(tx: Tx, decision: KeywordDecision, { event }: KeywordEvent): Promise<void> {
  const { subjectId, decidedAt } = decision;
  switch (event.case) {
    case 'keywordCreated':
      return keywordCreated(tx, decision, event.value);
    case 'keywordRetired':
      await tx.query(
        `UPDATE keywords SET state = 'retired', paused_reason = NULL, updated_at = $2, version = version + 1
         WHERE keyword_id = $1`,
        [subjectId, decidedAt],
      );
      await tx.query(
        'UPDATE watches SET is_active = false, retired_at = $2, updated_at = $2 WHERE keyword_id = $1 AND retired_at IS NULL',
        [subjectId, decidedAt],
      );
      return;
    case 'watchCreated':
      if (event.value.watch)
        await insertWatch(tx, decision, event.value.watch, {
          keywordId: null,
          webhookUrl: event.value.webhookUrl || null,
          webhookMode: 'all',
          ai: event.value.ai,
          analysis: event.value.analysis,
        });
      return;
    case 'watchChanged': {
      const { intervalSeconds, webhookUrl, isActive } = event.value;
      await tx.query(
        `UPDATE watches SET
           interval_seconds = COALESCE($2, interval_seconds),
           webhook_url = CASE WHEN $3::text IS NULL THEN webhook_url ELSE NULLIF($3, '') END,
           is_active = COALESCE($4, is_active),
           paused_reason = CASE WHEN $4 IS NULL THEN paused_reason WHEN $4 THEN NULL ELSE 'user' END,
           updated_at = $5
         WHERE watch_id = $1`,
        [subjectId, intervalSeconds ?? null, webhookUrl ?? null, isActive ?? null, decidedAt],
      );
      return;
    }
    case 'watchRetired':
      await tx.query(
        'UPDATE watches SET is_active = false, retired_at = $2, updated_at = $2 WHERE watch_id = $1',
        [subjectId, decidedAt],
      );
      return;
    case undefined:
      return;
  }
}

async function keywordCreated(
  tx: Tx,
  decision: KeywordDecision,
  { definition, watches }: KeywordCreated,
): Promise<void> {
  if (!definition) return;
  await tx.query(
    `INSERT INTO keywords (keyword_id, account_id, name, state, definition, created_at, updated_at, version)
     VALUES ($1, $2, $3, 'active', $4, $5, $5, 1) ON CONFLICT DO NOTHING`,
    [
      decision.subjectId,
      decision.accountId,
      definition.name,
      JSON.stringify(toJson(KeywordDefinitionSchema, definition, { alwaysEmitImplicit: true })),
      decision.decidedAt,
    ],
  );
  for (const watch of watches)
    await insertWatch(tx, decision, watch, {
      keywordId: decision.subjectId,
      webhookUrl: definition.webhookUrl || null,
      webhookMode: definition.webhookMode,
      ai: definition.aiStep,
      analysis: definition.sentimentEnabled,
    });
}

async function insertWatch(
  tx: Tx,
  { accountId, decidedAt }: KeywordDecision,
  watch: Watch,
  own: {
    keywordId: string | null;
    webhookUrl: string | null;
    webhookMode: string;
    ai: AgentStep | undefined;
    analysis: boolean;
  },
): Promise<void> {
  await tx.query(
    `INSERT INTO watches (watch_id, account_id, keyword_id, search_id, source, criteria, criteria_hash,
       interval_seconds, webhook_url, webhook_mode, ai, analysis, backfill, is_active, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, true, $14, $14) ON CONFLICT DO NOTHING`,
    [
      watch.watchId,
      accountId,
      own.keywordId,
      watch.searchId || null,
      watch.source,
      JSON.stringify(watch.criteria ? criteriaJson(watch.criteria) : {}),
      watch.criteriaHash,
      watch.intervalSeconds,
      own.webhookUrl,
      own.webhookMode,
      own.ai ? JSON.stringify(toJson(AgentStepSchema, own.ai)) : null,
      own.analysis,
      watch.backfill,
      decidedAt,
    ],
  );
}
