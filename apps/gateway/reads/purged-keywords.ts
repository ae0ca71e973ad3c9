import { Inject, Injectable } from '@nestjs/common';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';

/**
 * Purged keywords whose rows ClickHouse may still have: it takes a second or two to delete them. Each read of
 * ClickHouse queries this list first, so that a request that begins after the response to a purge never returns such
 * rows.
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
