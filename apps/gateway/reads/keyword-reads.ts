import { Inject, Injectable } from '@nestjs/common';
import { isoOf } from '#kernel';
import { DATABASE } from '#platform';
import { KeywordEntity, WatchEntity, type Database } from '#postgres';

/** A watch with what polling knows of it. */
export interface WatchRead {
  watch: WatchEntity;
  lastCheckedAt: string | null;
  /** `completed`, `failed`, or null before the first check. */
  lastStatus: string | null;
}

/** What a list of keywords can be narrowed to. */
export interface KeywordFilter {
  states: string[];
  /** Those that it lists, enabled or not. */
  sources: string[];
  /** Part of the name, in any case. */
  name: string | undefined;
}

/** Reads keywords and watches from the projections. Another account's are as if they were not. */
@Injectable()
export class KeywordReads {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async keyword(accountId: string, keywordId: string): Promise<KeywordEntity | null> {
    return this.database.getRepository(KeywordEntity).findOneBy({ accountId, keywordId });
  }

  /** Newest first, below `beforeId`; one more than `limit`, so that the caller knows whether there is a next page. */
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
    const watches = await this.database
      .getRepository(WatchEntity)
      .createQueryBuilder('w')
      .where('w.keywordId IN (:...keywordIds)', { keywordIds })
      .orderBy('w.watchId')
      .getMany();
    for (const read of await this.withSchedule(watches))
      byKeyword.get(read.watch.keywordId ?? '')?.push(read);
    return byKeyword;
  }

  /** A watch of the account on the source, retired ones too. */
  async watch(accountId: string, source: string, watchId: string): Promise<WatchRead | undefined> {
    const watch = await this.database.getRepository(WatchEntity).findOneBy({ accountId, source, watchId });
    return watch ? (await this.withSchedule([watch]))[0] : undefined;
  }

  /** Newest first, below `beforeId`; one more than `limit`. Retired ones are left out. */
  async watches(accountId: string, source: string, limit: number, beforeId?: string): Promise<WatchRead[]> {
    const query = this.database
      .getRepository(WatchEntity)
      .createQueryBuilder('w')
      .where('w.accountId = :accountId AND w.source = :source AND w.retiredAt IS NULL', { accountId, source })
      .orderBy('w.watchId', 'DESC')
      .take(limit + 1);
    if (beforeId) query.andWhere('w.watchId < :beforeId', { beforeId });
    return this.withSchedule(await query.getMany());
  }

  /** The searches (criteria hashes) of a source that the account's watches look at. */
  async searchesOf(accountId: string, source: string): Promise<ReadonlySet<string>> {
    const rows: { criteria_hash: string }[] = await this.database.query(
      `SELECT DISTINCT criteria_hash FROM watches
       WHERE account_id = $1 AND source = $2 AND is_active AND retired_at IS NULL`,
      [accountId, source],
    );
    return new Set(rows.map((row) => row.criteria_hash));
  }

  private async withSchedule(watches: readonly WatchEntity[]): Promise<WatchRead[]> {
    const rows: { watch_id: string; last_checked_at: Date | null; last_status: string | null }[] =
      await this.database.query(
        'SELECT watch_id, last_checked_at, last_status FROM watch_schedule WHERE watch_id = ANY($1)',
        [watches.map((watch) => watch.watchId)],
      );
    const byId = new Map(rows.map((row) => [row.watch_id, row]));
    return watches.map((watch) => {
      const row = byId.get(watch.watchId);
      return {
        watch,
        lastCheckedAt: row?.last_checked_at ? isoOf(row.last_checked_at) : null,
        lastStatus: row?.last_status ?? null,
      };
    });
  }
}
