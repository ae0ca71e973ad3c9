import { Inject, Injectable } from '@nestjs/common';
import type { SelectQueryBuilder } from 'typeorm';
import { isoOf } from '#kernel';
import { DATABASE } from '#platform';
import { KeywordEntity, WatchEntity, type Database } from '#postgres';

/** A watch, and the result of its last check. */
export interface WatchRead {
  watch: WatchEntity;
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

/** Reads keywords and watches from the projections. Another account's keywords and watches are not found. */
@Injectable()
export class KeywordReads {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async keyword(accountId: string, keywordId: string): Promise<KeywordEntity | null> {
    return this.database.getRepository(KeywordEntity).findOneBy({ accountId, keywordId });
  }

  /** The keyword of a feed, of any account: the caller checks the feed's secret. */
  ofFeed(keywordId: string): Promise<KeywordEntity | null> {
    return this.database.getRepository(KeywordEntity).findOneBy({ keywordId });
  }

  /**
   * Newest first, with ids below `beforeId`; one more than `limit`, so that the caller knows whether there is a next
   * page.
   */
  async keywords(
    accountId: string,
    filter: KeywordFilter,
    limit: number,
    beforeId?: string,
  ): Promise<KeywordEntity[]> {
    const query = this.database
      .getRepository(KeywordEntity)
      .createQueryBuilder('k')
      .where('k.accountId = :accountId', { accountId })
      .orderBy('k.keywordId', 'DESC')
      .take(limit + 1);
    if (beforeId) query.andWhere('k.keywordId < :beforeId', { beforeId });
    if (filter.states.length > 0) query.andWhere('k.state IN (:...states)', { states: filter.states });
    if (filter.name) query.andWhere('position(lower(:name) in lower(k.name)) > 0', { name: filter.name });
    if (filter.sources.length > 0)
      query.andWhere(
        `EXISTS (SELECT 1 FROM jsonb_array_elements(k.definition->'sources') s WHERE s->>'source' IN (:...sources))`,
        { sources: filter.sources },
      );
    return query.getMany();
  }

  async watchesOfKeywords(keywordIds: readonly string[]): Promise<Map<string, WatchRead[]>> {
    const byKeyword = new Map<string, WatchRead[]>(keywordIds.map((id) => [id, []]));
    if (keywordIds.length === 0) return byKeyword;
    const [keywordId] = keywordIds;
    const query = this.watchQuery().orderBy('w.watchId');
    // A single id uses the index. For a list of unknown length, Postgres may scan the whole of a new table.
    if (keywordIds.length === 1) query.where('w.keywordId = :keywordId', { keywordId });
    else query.where('w.keywordId = ANY (:keywordIds)', { keywordIds });
    for (const read of await readsOf(query)) byKeyword.get(read.watch.keywordId ?? '')?.push(read);
    return byKeyword;
  }

  /** A watch of the account on the source, even if it is retired. */
  async watch(accountId: string, source: string, watchId: string): Promise<WatchRead | undefined> {
    const query = this.watchQuery().where(
      'w.watchId = :watchId AND w.accountId = :accountId AND w.source = :source',
      { accountId, source, watchId },
    );
    return (await readsOf(query))[0];
  }

  /** Newest first, with ids below `beforeId`; one more than `limit`. Retired watches are left out. */
  async watches(accountId: string, source: string, limit: number, beforeId?: string): Promise<WatchRead[]> {
    const query = this.watchQuery()
      .where('w.accountId = :accountId AND w.source = :source AND w.retiredAt IS NULL', { accountId, source })
      .orderBy('w.watchId', 'DESC')
      .limit(limit + 1);
    if (beforeId) query.andWhere('w.watchId < :beforeId', { beforeId });
    return readsOf(query);
  }

  /** The searches (criteria hashes) of a source that the account's watches use. */
  async searchesOf(accountId: string, source: string): Promise<ReadonlySet<string>> {
    const rows: { criteria_hash: string }[] = await this.database.query(
      `SELECT DISTINCT criteria_hash FROM watches
       WHERE account_id = $1 AND source = $2 AND is_active AND retired_at IS NULL`,
      [accountId, source],
    );
    return new Set(rows.map((row) => row.criteria_hash));
  }

  /** Watches, each with its row in polling's table. */
  private watchQuery(): SelectQueryBuilder<WatchEntity> {
    return this.database
      .getRepository(WatchEntity)
      .createQueryBuilder('w')
      .leftJoin('watch_schedule', 's', 's.watch_id = w.watchId')
      .addSelect('s.last_checked_at', 'last_checked_at')
      .addSelect('s.last_check_failed', 'last_check_failed');
  }
}

async function readsOf(query: SelectQueryBuilder<WatchEntity>): Promise<WatchRead[]> {
  const { entities, raw } = await query.getRawAndEntities<{
    last_checked_at: Date | null;
    last_check_failed: boolean | null;
  }>();
  return entities.map((watch, n) => ({
    watch,
    lastCheckedAt: raw[n]?.last_checked_at ? isoOf(raw[n].last_checked_at) : null,
    lastStatus: statusOf(raw[n]?.last_check_failed ?? null),
  }));
}

/** @param hasFailed whether the last check failed; null before the first check */
function statusOf(hasFailed: boolean | null): 'completed' | 'failed' | null {
  if (hasFailed === null) return null;
  return hasFailed ? 'failed' : 'completed';
}
