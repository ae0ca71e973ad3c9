import { fromBinary } from '@bufbuild/protobuf';
import { CheckPeriodSchema, CheckSchema } from '#contracts';
import type { Tx } from '#postgres';
import type { Projection } from '#projections';
import { coveredBy, type Covered } from '../domain/coverage.js';

/**
 * Stores which times the checks of each search of a keyword cover. A baseline uses only covered times. So the outage of
 * a source does not look like a drop of mentions, and the end of the outage does not look like a rise.
 */
export const searchCoverageProjection: Projection = {
  name: 'search-coverage-v1',
  stream: 'CHECKS',
  severalOfSubject: true,
  rebuild: {
    tables: ['search_coverage'],
    async forget(tx) {
      await tx.query(
        'DELETE FROM search_coverage WHERE keyword_id IN (SELECT keyword_id FROM purged_keywords)',
      );
    },
  },
  async apply(tx, messages) {
    const searches = new Map<string, SearchCoverage>();
    for (const { data } of messages) {
      // The items are not decoded, because decoding them would take longer than the rest of the work.
      const period = fromBinary(CheckPeriodSchema, data);
      const { keywordId, watchId } = period;
      if (keywordId === '') continue;
      const covered = coveredBy(period, () => fromBinary(CheckSchema, data));
      if (!covered) continue;
      const key = `${keywordId} ${watchId}`;
      const search = searches.get(key) ?? { keywordId, watchId, added: [], rows: [] };
      search.added.push(covered);
      searches.set(key, search);
    }
    if (searches.size === 0) return;
    await readRows(tx, searches);
    await writeRows(tx, [...searches.values()]);
  },
};

interface SearchCoverage {
  keywordId: string;
  /** Its column has the name `search_id` from earlier releases, as in `mention_counts`. */
  watchId: string;
  added: Covered[];
  /** Stored periods that an added period could extend. */
  rows: Covered[];
}

async function readRows(tx: Tx, searches: ReadonlyMap<string, SearchCoverage>): Promise<void> {
  const all = [...searches.values()];
  const rows: { keyword_id: string; search_id: string; covered_from: Date; covered_to: Date }[] =
    await tx.query(
      `SELECT c.* FROM unnest($1::uuid[], $2::uuid[], $3::double precision[]) AS s (keyword_id, search_id, since)
     JOIN search_coverage c USING (keyword_id, search_id) WHERE c.covered_to >= to_timestamp(s.since / 1000.0)`,
      [
        all.map(({ keywordId }) => keywordId),
        all.map(({ watchId }) => watchId),
        all.map(({ added }) => Math.min(...added.map(({ from }) => from))),
      ],
    );
  for (const { keyword_id, search_id, covered_from, covered_to } of rows)
    searches
      .get(`${keyword_id} ${search_id}`)
      ?.rows.push({ from: covered_from.getTime(), to: covered_to.getTime() });
}

/** Extends a stored period if an added period begins inside it or at its end. Otherwise adds a row. */
async function writeRows(tx: Tx, searches: readonly SearchCoverage[]): Promise<void> {
  const written = new Map<string, object>();
  for (const { keywordId, watchId, added, rows } of searches)
    for (const { from, to } of added) {
      const continued = rows.find((row) => row.from <= from && row.to >= from);
      if (continued) continued.to = Math.max(continued.to, to);
      else rows.push({ from, to });
      const row = continued ?? { from, to };
      written.set(`${keywordId} ${watchId} ${row.from}`, {
        keyword_id: keywordId,
        search_id: watchId,
        covered_from: row.from,
        covered_to: row.to,
      });
    }
  await tx.query(
    `INSERT INTO search_coverage AS c (keyword_id, search_id, covered_from, covered_to)
     SELECT n.keyword_id, n.search_id, to_timestamp(n.covered_from / 1000.0), to_timestamp(n.covered_to / 1000.0)
     FROM jsonb_to_recordset($1) AS n (keyword_id uuid, search_id uuid, covered_from double precision,
       covered_to double precision)
     JOIN keywords k USING (keyword_id) ORDER BY 1, 2, 3
     ON CONFLICT (keyword_id, search_id, covered_from)
     DO UPDATE SET covered_to = GREATEST(c.covered_to, excluded.covered_to)`,
    [JSON.stringify([...written.values()])],
  );
}
