import { Inject, Injectable } from '@nestjs/common';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';

/**
 * Keywords that were purged while ClickHouse may still hold rows of them: it takes a second or two to delete. Asked
 * before each read of it, so that no request that begins after a purge was answered sees any of them.
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
