import { fromBinary } from '@bufbuild/protobuf';
import { EventSchema } from '#contracts';
import { FEW_WRITES } from '#messaging';
import { jsonbText } from '#postgres';
import type { Projection } from '#projections';
import { waitingItemOf } from '../domain/digest-content.js';

/**
 * Stores the items of EVENTS that wait for a digest, if their keyword has a channel that gets digests. An event that is
 * stored twice is one item.
 */
export const digestItemsProjection: Projection = {
  name: 'digest-items-v1',
  stream: 'EVENTS',
  severalOfSubject: true,
  unordered: true,
  ...FEW_WRITES,
  rebuild: {
    tables: ['digest_items'],
    async forget(tx) {
      await tx.query('DELETE FROM digest_items WHERE keyword_id IN (SELECT keyword_id FROM purged_keywords)');
    },
  },
  async apply(tx, messages) {
    const rows = messages.flatMap(({ data, seq }) => {
      const event = fromBinary(EventSchema, data);
      const item = event.keywordId === '' ? undefined : waitingItemOf(event);
      const { eventId: event_id, keywordId: keyword_id, occurredAt: occurred_at } = event;
      return item ? [{ event_id, keyword_id, occurred_at, seq, item }] : [];
    });
    if (rows.length === 0) return;
    await tx.query(
      `INSERT INTO digest_items (keyword_id, seq, event_id, occurred_at, item)
       SELECT n.keyword_id, n.seq, n.event_id, n.occurred_at, n.item
       FROM jsonb_to_recordset($1) AS n (keyword_id uuid, seq bigint, event_id uuid, occurred_at timestamptz, item jsonb)
       JOIN keywords k USING (keyword_id)
       WHERE jsonb_path_exists(k.definition, '$.channels[*] ? (@.mode != "instant")')
         -- The mode can have changed to "instant" since the event was published. Then the last digest contains the item.
         OR EXISTS (SELECT 1 FROM digest_turns t WHERE t.keyword_id = n.keyword_id AND n.seq <= coalesce(t.last_seq, n.seq))
       ORDER BY 1, 2 ON CONFLICT DO NOTHING`,
      [jsonbText(rows)],
    );
  },
};
