import { Inject, Injectable } from '@nestjs/common';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';

/**
 * Finds purged keywords whose rows ClickHouse can still contain, because a deletion takes a second or two. The reads of
 * mentions, deliveries and corrections query this list first, so that a request that begins after the response to a
 * purge returns no such rows. The reads of events do not need the list: they first look for the keyword or its
 * watches in Postgres, and a purge deletes these rows before its response.
 */
@Injectable()
export class PurgedKeywords {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async of(accountId: string): Promise<string[]> {
    const rows: { keyword_id: string }[] = await this.database.query(
      'SELECT keyword_id FROM purged_keywords WHERE account_id = $1',
      [accountId],
    );
    return rows.map((row) => row.keyword_id);
  }
}
