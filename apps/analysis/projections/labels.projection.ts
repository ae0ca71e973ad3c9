import { fromBinary } from '@bufbuild/protobuf';
import { LabelDecisionSchema } from '#contracts';
import type { Tx } from '#postgres';
import type { Projection } from '#projections';
import { evolve, UNLABELLED, type LabelState } from '../domain/labels.js';

/** A person's decisions about a mention, and the sequence of the last decision. */
export interface LabelRow extends LabelState {
  mentionId: string;
  version: number;
}

interface Row {
  mention_id: string;
  labels: string[] | null;
  corrections: LabelState['corrections'];
  version: number;
}

/** Updates `mention_labels` from people's decisions about mentions. */
export const labelsProjection: Projection = {
  name: 'labels-v1',
  stream: 'LABELS',
  rebuild: {
    tables: ['mention_labels'],
    kept: [{ table: 'mention_labels', key: 'mention_id', columns: ['account_id'], rows: true }],
    async forget(tx, subjects) {
      await tx.query(
        `DELETE FROM mention_labels WHERE mention_id = ANY ($1)
           OR owner_id IN (SELECT keyword_id FROM purged_keywords)`,
        [subjects.map((subject) => subject.split('.').at(-1))],
      );
    },
  },
  async apply(tx, messages) {
    for (const { data, seq } of messages) {
      const { accountId, mentionId, ownerId, events } = fromBinary(LabelDecisionSchema, data);
      const [known] = await labelsOf(tx, [mentionId]);
      const { labels, corrections } = events.reduce(evolve, known ?? UNLABELLED);
      await tx.query(
        `INSERT INTO mention_labels (mention_id, account_id, owner_id, labels, corrections, version)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (mention_id) DO UPDATE SET labels = $4, corrections = $5, version = $6`,
        [mentionId, accountId, ownerId, labels ?? null, JSON.stringify(corrections), seq],
      );
    }
  },
};

/** Returns people's decisions about these mentions. Mentions without a decision are left out. */
export async function labelsOf(tx: Tx, mentionIds: readonly string[]): Promise<LabelRow[]> {
  if (mentionIds.length === 0) return [];
  const rows: Row[] = await tx.query(
    'SELECT mention_id, labels, corrections, version FROM mention_labels WHERE mention_id = ANY($1)',
    [mentionIds],
  );
  return rows.map(({ mention_id, labels, ...row }) => ({
    mentionId: mention_id,
    labels: labels ?? undefined,
    ...row,
  }));
}
