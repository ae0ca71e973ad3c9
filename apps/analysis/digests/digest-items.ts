import { MOST_DIGEST_ITEMS } from '#contracts';
import type { Database } from '#postgres';
import type { WaitingItem } from '../domain/digest-content.js';

/** A fact names at most this many mentions, so that it fits into a message. */
const MOST_IDS = 10_000;

/** The items of one digest. */
export interface DigestItems {
  /** At most 50: VIPs and items with the label `to_reply` first, then the newest. */
  shown: WaitingItem[];
  total: number;
  /** The earliest first, at most 10,000. */
  mentionIds: string[];
}

/**
 * Reads the items of a keyword with a sequence greater than `afterSeq`, up to `cutSeq`. Labels that a person has set
 * replace those of rules; hidden items are left out.
 */
export async function digestItems(
  database: Database,
  keywordId: string,
  afterSeq: number,
  cutSeq: number,
): Promise<DigestItems> {
  const items = `SELECT i.event_id, i.seq, i.item, COALESCE(to_jsonb(l.labels), i.item->'item'->'labels') AS labels
    FROM digest_items i LEFT JOIN mention_labels l ON l.mention_id = i.event_id
    WHERE i.keyword_id = $1 AND i.seq > $2 AND i.seq <= $3`;
  const visible = `(SELECT * FROM (${items}) AS labelled WHERE NOT labels ? 'hidden') AS visible`;
  const params = [keywordId, afterSeq, cutSeq];
  const [row]: { total: number; ids: string[] | null }[] = await database.query(
    `SELECT count(*)::int AS total, (array_agg(event_id ORDER BY seq))[1:${MOST_IDS}] AS ids FROM ${visible}`,
    params,
  );
  const total = row?.total ?? 0;
  if (total === 0) return { shown: [], total, mentionIds: [] };
  const rows: { item: WaitingItem; labels: string[] }[] = await database.query(
    `SELECT item, labels FROM ${visible}
     ORDER BY (labels ? 'to_reply' OR item->'item'->'vip' = 'true') DESC, seq DESC LIMIT ${MOST_DIGEST_ITEMS}`,
    params,
  );
  const shown = rows.map(({ item, labels }) => ({ ...item, item: { ...item.item, labels } }));
  return { shown, total, mentionIds: row?.ids ?? [] };
}
