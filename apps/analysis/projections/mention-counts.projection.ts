import { fromBinary } from '@bufbuild/protobuf';
import { EventSchema, type Event } from '#contracts';
import type { Tx } from '#postgres';
import { systemClock } from '#kernel';
import { FEW_WRITES } from '#messaging';
import type { Projection } from '#projections';
import { binOf } from '../alerts/windows.js';
import { COUNTED_IDS_DAYS, countsAt } from '../domain/counted-at.js';

/**
 * New mentions cause at most one evaluation of a keyword in this time, so that many mentions cause few queries.
 */
const EVALUATE_EVERY_SECONDS = 10;
const DAY_MS = 24 * 3_600_000;

/**
 * Counts the mentions of EVENTS by watch and bin (a period of `BIN_MS`), and marks the keywords whose alerts must be
 * evaluated. An event that is stored twice is counted only once while its id is in `counted_mentions`.
 */
export const mentionCountsProjection: Projection = {
  name: 'mention-counts-v1',
  stream: 'EVENTS',
  severalOfSubject: true,
  unordered: true,
  ...FEW_WRITES,
  rebuild: {
    tables: ['mention_counts', 'counted_mentions'],
    // A rebuild must not evaluate alerts again.
    untouched: ['alert_turns'],
    async forget(tx) {
      for (const table of ['mention_counts', 'counted_mentions'])
        await tx.query(`DELETE FROM ${table} WHERE keyword_id IN (SELECT keyword_id FROM purged_keywords)`);
    },
  },
  async apply(tx, messages) {
    const counted = messages.flatMap(({ data, again }) => {
      const event = fromBinary(EventSchema, data);
      return again && areIdsGone(event) ? [] : mentionOf(event);
    });
    if (counted.length === 0) return;
    const added = await addMentions(tx, counted);
    await addCounts(tx, added);
    await markTurns(
      tx,
      added.filter(({ isNew }) => isNew),
    );
  },
};

interface CountedMention {
  event_id: string;
  keyword_id: string;
  search_id: string;
  /** ms */
  at: number;
  occurred_at: string;
  negative: boolean;
  /**
   * False for an item that was published before the watch began: the item is counted, but does not cause an evaluation.
   */
  isNew: boolean;
}

/**
 * Returns true if the id of the event is possibly deleted already. Such an event could be counted twice. It comes again
 * only if the whole stream is read again.
 */
function areIdsGone({ occurredAt }: Event): boolean {
  return Date.parse(occurredAt) < systemClock.now().getTime() - (COUNTED_IDS_DAYS - 1) * DAY_MS;
}

function mentionOf(event: Event): CountedMention[] {
  const at = countsAt(event);
  if (at === undefined || event.keywordId === '') return [];
  return [
    {
      event_id: event.eventId,
      keyword_id: event.keywordId,
      // A search keeps its watch if a user moves it into a list of searches or out of one, and gets a new watch if its
      // criteria change. The column has its name from earlier releases, which stored the id of the search.
      search_id: event.watchId,
      at,
      occurred_at: event.occurredAt,
      negative: event.analysis?.sentiment === 'negative',
      isNew: !event.backfilled,
    },
  ];
}

/** Stores mentions. @returns the mentions that were not counted before. Mentions of purged keywords are left out. */
async function addMentions(tx: Tx, mentions: readonly CountedMention[]): Promise<CountedMention[]> {
  const rows: { event_id: string }[] = await tx.query(
    `INSERT INTO counted_mentions (event_id, keyword_id, search_id, counted_at, occurred_at, negative)
     SELECT m.event_id, m.keyword_id, m.search_id, to_timestamp(m.at / 1000.0), m.occurred_at, m.negative
     FROM jsonb_to_recordset($1) AS m (event_id uuid, keyword_id uuid, search_id uuid, at double precision,
       occurred_at timestamptz, negative boolean)
     WHERE EXISTS (SELECT 1 FROM keywords k WHERE k.keyword_id = m.keyword_id)
     ON CONFLICT DO NOTHING RETURNING event_id`,
    [JSON.stringify(mentions)],
  );
  const added = new Set(rows.map((row) => row.event_id));
  return mentions.filter((one) => added.delete(one.event_id));
}

async function addCounts(tx: Tx, mentions: readonly CountedMention[]): Promise<void> {
  const counts = new Map<
    string,
    { keyword_id: string; search_id: string; bin: string; total: number; negative: number }
  >();
  for (const { keyword_id, search_id, at, negative } of mentions) {
    const bin = new Date(binOf(at)).toISOString();
    const key = `${keyword_id} ${bin} ${search_id}`;
    const count = counts.get(key) ?? { keyword_id, search_id, bin, total: 0, negative: 0 };
    count.total += 1;
    if (negative) count.negative += 1;
    counts.set(key, count);
  }
  await tx.query(
    `INSERT INTO mention_counts AS c (keyword_id, bin, search_id, total, negative)
     SELECT * FROM jsonb_to_recordset($1) AS n (keyword_id uuid, bin timestamptz, search_id uuid, total int, negative int)
     ORDER BY 1, 2, 3
     ON CONFLICT (keyword_id, bin, search_id)
     DO UPDATE SET total = c.total + excluded.total, negative = c.negative + excluded.negative`,
    [JSON.stringify([...counts.values()])],
  );
}

/** Marks keywords that have an alert. Marks each keyword only once for many mentions. */
async function markTurns(tx: Tx, mentions: readonly CountedMention[]): Promise<void> {
  const firstBins = new Map<string, number>();
  for (const { keyword_id, at } of mentions)
    firstBins.set(keyword_id, Math.min(firstBins.get(keyword_id) ?? Infinity, binOf(at)));
  if (firstBins.size === 0) return;
  await tx.query(
    `INSERT INTO alert_turns AS t (keyword_id, changed_from, due_at)
     SELECT k.keyword_id, to_timestamp(n.bin / 1000.0), now()
     FROM unnest($1::uuid[], $2::double precision[]) AS n (keyword_id, bin) JOIN keywords k USING (keyword_id)
     WHERE k.state <> 'retired' AND ${HAS_ALERTS} ORDER BY 1
     ON CONFLICT (keyword_id) DO UPDATE SET changed_from = LEAST(t.changed_from, excluded.changed_from),
       changes = t.changes + 1,
       due_at = LEAST(t.due_at, GREATEST(now(), t.evaluated_at + make_interval(secs => ${EVALUATE_EVERY_SECONDS})))`,
    [[...firstBins.keys()], [...firstBins.values()]],
  );
}

/** SQL condition: the keyword `k` has a spike alert, or an enabled rule that is not on single mentions. */
const HAS_ALERTS = `(COALESCE(k.definition->>'spikeAlert', '') <> '' OR jsonb_path_exists(k.definition,
  '$.rules[*] ? (@.enabled == true && @.when.kind != "item")'))`;
