import { Inject, Injectable } from '@nestjs/common';
import type { EntityTarget } from 'typeorm';
import { isoOf } from '#kernel';
import { DATABASE } from '#platform';
import { KeywordEntity, readTogether, WatchEntity, type Database, type Tx } from '#postgres';

const AFTER_ALL_IDS = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** A watch, and the result of its last check. */
export interface WatchRead {
  watch: WatchEntity;
  /** When the last check read its upstream, or failed. */
  lastCheckedAt: string | null;
  /** `completed`, `failed`, or null before the first check. */
  lastStatus: string | null;
}

/** The filter of a list of keywords. */
export interface KeywordFilter {
  states: string[];
  /** Keywords with one of these sources, enabled or not. */
  sources: string[];
  /** Part of the name, in upper or lower case. */
  name: string | undefined;
}

/**
 * Reads keywords and watches from the projections. Methods with an `accountId` do not find keywords and watches of
 * other accounts.
 */
@Injectable()
export class KeywordReads {
  private readonly selectKeywords: string;
  private readonly selectWatches: string;

  constructor(@Inject(DATABASE) private readonly database: Database) {
    this.selectKeywords = `SELECT ${columnsOf(database, KeywordEntity, 'k')} FROM keywords k`;
    // Joins each watch with its row in polling's table.
    this.selectWatches = `SELECT ${columnsOf(database, WatchEntity, 'w')}, s.failed_at, s.covered_until
      FROM watches w LEFT JOIN watch_schedule s USING (watch_id)`;
  }

  async keyword(
    accountId: string,
    keywordId: string,
    connection: Pick<Tx, 'query'> = this.database,
  ): Promise<KeywordEntity | undefined> {
    const [keyword]: KeywordEntity[] = await connection.query(
      `${this.selectKeywords} WHERE k.account_id = $1 AND k.keyword_id = $2`,
      [accountId, keywordId],
    );
    return keyword;
  }

  /** Returns a keyword and its watches; undefined if the account has no such keyword. */
  async keywordWithWatches(
    accountId: string,
    keywordId: string,
  ): Promise<{ keyword: KeywordEntity; watches: WatchRead[] } | undefined> {
    const [keyword, watches] = await readTogether(this.database, (connection) => [
      this.keyword(accountId, keywordId, connection),
      this.watchesOfKeywords([keywordId], connection),
    ]);
    return keyword && { keyword, watches: watches.get(keywordId) ?? [] };
  }

  /** Returns the keyword of a feed, of any account: the caller checks the feed's secret. */
  async ofFeed(keywordId: string): Promise<KeywordEntity | undefined> {
    const [keyword]: KeywordEntity[] = await this.database.query(
      `${this.selectKeywords} WHERE k.keyword_id = $1`,
      [keywordId],
    );
    return keyword;
  }

  /**
   * Returns keywords with ids below `beforeId`, newest first. Returns up to one more than `limit`, so that the caller
   * knows whether there is a next page.
   */
  async keywords(
    accountId: string,
    filter: KeywordFilter,
    limit: number,
    beforeId = AFTER_ALL_IDS,
  ): Promise<KeywordEntity[]> {
    const values: unknown[] = [accountId, beforeId, limit + 1];
    const given = (value: unknown) => `$${values.push(value)}`;
    const conditions = ['k.account_id = $1 AND k.keyword_id < $2'];
    if (filter.states.length > 0) conditions.push(`k.state = ANY (${given(filter.states)})`);
    if (filter.name) conditions.push(`position(lower(${given(filter.name)}) in lower(k.name)) > 0`);
    if (filter.sources.length > 0)
      conditions.push(
        `EXISTS (SELECT 1 FROM jsonb_array_elements(k.definition->'sources') s
           WHERE s->>'source' = ANY (${given(filter.sources)}))`,
      );
    return this.database.query(
      `${this.selectKeywords} WHERE ${conditions.join(' AND ')} ORDER BY k.keyword_id DESC LIMIT $3`,
      values,
    );
  }

  async watchesOfKeywords(
    keywordIds: readonly string[],
    connection: Pick<Tx, 'query'> = this.database,
  ): Promise<Map<string, WatchRead[]>> {
    const byKeyword = new Map<string, WatchRead[]>(keywordIds.map((id) => [id, []]));
    if (keywordIds.length === 0) return byKeyword;
    // A single id uses the index. For a list of unknown length, Postgres may scan the whole of a new table.
    const [condition, ids] = keywordIds.length === 1 ? ['= $1', keywordIds] : ['= ANY ($1)', [keywordIds]];
    const reads = await this.readWatches(
      `WHERE w.keyword_id ${condition} ORDER BY w.watch_id`,
      ids,
      connection,
    );
    for (const read of reads) byKeyword.get(read.watch.keywordId ?? '')?.push(read);
    return byKeyword;
  }

  /** Returns a watch of the account on the source, even if it is retired; undefined if there is no such watch. */
  async watch(accountId: string, source: string, watchId: string): Promise<WatchRead | undefined> {
    const reads = await this.readWatches('WHERE w.watch_id = $1 AND w.account_id = $2 AND w.source = $3', [
      watchId,
      accountId,
      source,
    ]);
    return reads[0];
  }

  /**
   * Returns watches with ids below `beforeId`, newest first, up to one more than `limit`. Retired watches are left out.
   */
  watches(accountId: string, source: string, limit: number, beforeId = AFTER_ALL_IDS): Promise<WatchRead[]> {
    return this.readWatches(
      `WHERE w.account_id = $1 AND w.source = $2 AND w.retired_at IS NULL AND w.watch_id < $3
       ORDER BY w.watch_id DESC LIMIT $4`,
      [accountId, source, beforeId, limit + 1],
    );
  }

  /** Returns the searches (criteria hashes) of a source that the account's active watches use. */
  async searchesOf(accountId: string, source: string): Promise<ReadonlySet<string>> {
    const rows: { criteria_hash: string }[] = await this.database.query(
      `SELECT DISTINCT criteria_hash FROM watches
       WHERE account_id = $1 AND source = $2 AND is_active AND retired_at IS NULL`,
      [accountId, source],
    );
    return new Set(rows.map((row) => row.criteria_hash));
  }

  private async readWatches(
    condition: string,
    values: readonly unknown[],
    connection: Pick<Tx, 'query'> = this.database,
  ): Promise<WatchRead[]> {
    const rows: WatchRow[] = await connection.query(`${this.selectWatches} ${condition}`, [...values]);
    return rows.map(({ failed_at, covered_until, ...watch }) => ({
      watch,
      ...lastCheckOf(failed_at, covered_until),
    }));
  }
}

type WatchRow = WatchEntity & { failed_at: Date | null; covered_until: Date | null };

/** Returns the columns of an entity's table, named as its properties. */
function columnsOf(database: Database, entity: EntityTarget<object>, alias: string): string {
  const { columns } = database.getMetadata(entity);
  return columns
    .map(({ databaseName, propertyName }) => `${alias}.${databaseName} AS "${propertyName}"`)
    .join(', ');
}

/**
 * @param failedAt time of the last check if it failed
 * @param readAt time of the last completed check
 */
function lastCheckOf(failedAt: Date | null, readAt: Date | null): Omit<WatchRead, 'watch'> {
  if (failedAt) return { lastCheckedAt: isoOf(failedAt), lastStatus: 'failed' };
  if (readAt) return { lastCheckedAt: isoOf(readAt), lastStatus: 'completed' };
  return { lastCheckedAt: null, lastStatus: null };
}
