import { fromBinary } from '@bufbuild/protobuf';
import { ExploreDecisionSchema, type ExploreDecision, type ExploreEvent } from '#contracts';
import type { Tx } from '#postgres';
import type { Projection } from '#projections';

/** Stores each Explore (one question to several sources), and the outcome of each of its sources. */
export const exploresProjection: Projection = {
  name: 'explores-v1',
  stream: 'EXPLORES',
  rebuild: { tables: ['explores', 'explore_sources'] },
  async apply(tx, messages) {
    for (const { data } of messages) {
      const decision = fromBinary(ExploreDecisionSchema, data);
      for (const event of decision.events) await applyEvent(tx, decision, event);
    }
  },
};

async function applyEvent(
  tx: Tx,
  { accountId, exploreId, decidedAt }: ExploreDecision,
  { event }: ExploreEvent,
): Promise<void> {
  switch (event.case) {
    case 'requested': {
      const { question, market, limit, sources, creditsQuoted, terms, feedUrls } = event.value;
      await tx.query(
        `INSERT INTO explores
           (explore_id, account_id, question, market, most_items, credits_quoted, created_at, terms, feed_urls)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
        [exploreId, accountId, question, market, limit, creditsQuoted, decidedAt, terms, feedUrls],
      );
      await tx.query(
        `INSERT INTO explore_sources (explore_id, source, position)
         SELECT $1, source, position FROM unnest($2::text[]) WITH ORDINALITY AS s (source, position)
         ON CONFLICT DO NOTHING`,
        [exploreId, sources],
      );
      return;
    }
    case 'sourceAnswered': {
      const { source, items, costCredits, warnings } = event.value;
      const note = warnings.join('; ');
      await end(tx, [exploreId, source, 'done', items, costCredits, note, decidedAt]);
      return;
    }
    case 'sourceFailed':
      await end(tx, [exploreId, event.value.source, 'failed', 0, 0, event.value.reason, decidedAt]);
      return;
    case 'itemsFound':
    case undefined:
      return;
  }
}

async function end(tx: Tx, values: readonly unknown[]): Promise<void> {
  await tx.query(
    `UPDATE explore_sources SET status = $3, items = $4, credits = $5, message = $6, ended_at = $7
     WHERE explore_id = $1 AND source = $2`,
    [...values],
  );
}
