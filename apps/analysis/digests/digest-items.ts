import { MAX_DIGEST_ITEMS } from '#contracts';
import type { Database } from '#postgres';
import type { WaitingItem } from '../domain/digest-content.js';

/** The message of a digest names at most this number of mentions, so that NATS accepts the message. */
const MAX_IDS = 10_000;

/** The items of a keyword with a sequence greater than `afterSeq`, up to `cutSeq`. */
export interface ItemRange {
  keywordId: string;
  afterSeq: number;
  cutSeq: number;
}

/** The items of one digest. */
export interface DigestItems {
  /** At most 50 items: VIPs and items with the label `to_reply` first, then the newest. */
  shown: WaitingItem[];
  total: number;
  /** At most 10,000, the earliest first. */
  mentionIds: string[];
}

const NONE: DigestItems = { shown: [], total: 0, mentionIds: [] };

const RANGES =
  'unnest($1::uuid[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS r (keyword_id, after_seq, cut_seq, n)';
const IN_RANGE = 'i.keyword_id = r.keyword_id AND i.seq > r.after_seq AND i.seq <= r.cut_seq';

/**
 * The FROM clause of a query: the ranges, and their items with the current labels, without hidden items. Labels that a
 * person has set replace the labels of rules.
 */
const VISIBLE = `${RANGES}, LATERAL (SELECT * FROM (
    SELECT i.event_id, i.seq, i.item, COALESCE(to_jsonb(l.labels), i.item->'item'->'labels') AS labels
    FROM digest_items i LEFT JOIN mention_labels l ON l.mention_id = i.event_id
    WHERE ${IN_RANGE}) AS labelled
  WHERE NOT labels ? 'hidden') AS visible`;

/** Returns for each range whether it contains items, including hidden items. */
export async function haveItems(database: Database, ranges: readonly ItemRange[]): Promise<boolean[]> {
  const rows: { n: number }[] = await database.query(
    `SELECT r.n FROM ${RANGES} WHERE EXISTS (SELECT 1 FROM digest_items i WHERE ${IN_RANGE})`,
    paramsOf(ranges),
  );
  const filled = new Set(rows.map(({ n }) => n));
  return ranges.map((_, n) => filled.has(n + 1));
}

/** Reads the items of several digests. The result has the order of `ranges`. Hidden items are left out. */
export async function digestItems(database: Database, ranges: readonly ItemRange[]): Promise<DigestItems[]> {
  const params = paramsOf(ranges);
  const totals: { n: number; total: number; ids: string[] }[] = await database.query(
    `SELECT r.n, count(*)::int AS total, (array_agg(event_id ORDER BY seq))[1:${MAX_IDS}] AS ids FROM ${VISIBLE} GROUP BY r.n`,
    params,
  );
  const found = new Map(
    totals.map(({ n, total, ids }) => [n, { shown: [] as WaitingItem[], total, mentionIds: ids }]),
  );
  const rows: { n: number; item: WaitingItem; labels: string[] }[] =
    totals.length > 0 ? await database.query(SHOWN, params) : [];
  for (const { n, item, labels } of rows)
    found.get(n)?.shown.push({ ...item, item: { ...item.item, labels } });
  return ranges.map((_, n) => found.get(n + 1) ?? NONE);
}

const SHOWN = `SELECT n, item, labels FROM (
    SELECT r.n, item, labels,
      row_number() OVER (PARTITION BY r.n ORDER BY (labels ? 'to_reply' OR item->'item'->'vip' = 'true') DESC, seq DESC) AS place
    FROM ${VISIBLE}) AS placed
  WHERE place <= ${MAX_DIGEST_ITEMS} ORDER BY n, place`;

function paramsOf(ranges: readonly ItemRange[]): unknown[] {
  return [
    ranges.map(({ keywordId }) => keywordId),
    ranges.map(({ afterSeq }) => afterSeq),
    ranges.map(({ cutSeq }) => cutSeq),
  ];
}
