import { fromBinary } from '@bufbuild/protobuf';
import { ReplayDecisionSchema, type ReplayDecision, type ReplayEvent } from '#contracts';
import type { Tx } from '#postgres';
import type { Projection } from '#projections';

/**
 * Stores the decisions about replays in `replays`. The progress and the counts of running replays come from
 * replays/replay-progress.ts.
 */
export const replaysProjection: Projection = {
  name: 'replays-v1',
  stream: 'REPLAYS',
  rebuild: {
    tables: ['replays'],
    // Keeps what the stream does not contain: the progress and the claim of a replay, and the replays of purged
    // keywords.
    kept: [
      {
        table: 'replays',
        key: 'replay_id',
        columns: [
          'sent',
          'failed',
          'missing',
          'after_at',
          'after_id',
          'claim',
          'due_at',
          'url',
          'finished_at',
        ],
        rows: true,
      },
    ],
  },
  async apply(tx, messages) {
    for (const { data } of messages) {
      const decision = fromBinary(ReplayDecisionSchema, data);
      for (const event of decision.events) await applyEvent(tx, decision, event);
    }
  },
};

async function applyEvent(
  tx: Tx,
  { accountId, replayId, decidedAt }: ReplayDecision,
  { event }: ReplayEvent,
): Promise<void> {
  switch (event.case) {
    case 'requested': {
      const { keywordId, watchId, since, until, url, types, ratePerSecond, upToSequence } = event.value;
      await tx.query(
        `INSERT INTO replays (replay_id, account_id, keyword_id, watch_id, since, until, url, types, rate_per_second,
           up_to_seq, status, created_at, due_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'queued', $11, $11) ON CONFLICT DO NOTHING`,
        [
          replayId,
          accountId,
          keywordId || null,
          watchId || null,
          // As dates: older releases accepted times in the year 0, whose ISO form Postgres cannot read.
          new Date(since),
          new Date(until),
          url,
          types,
          ratePerSecond,
          Number(upToSequence),
          decidedAt,
        ],
      );
      return;
    }
    case 'started':
      await tx.query(`UPDATE replays SET status = 'running', matched = $2 WHERE replay_id = $1`, [
        replayId,
        event.value.matched,
      ]);
      return;
    case 'ended': {
      const { status, message, sent, failed, missing } = event.value;
      await tx.query(
        `UPDATE replays SET status = $2, message = $3, sent = $4, failed = $5, missing = $6, finished_at = $7, claim = NULL
         WHERE replay_id = $1`,
        [replayId, status, message, sent, failed, missing, decidedAt],
      );
      return;
    }
    case undefined:
      return;
  }
}
