import { Inject, Injectable } from '@nestjs/common';
import { Refusal } from '#kernel';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';

/** Maximum number of tests of one account in a UTC minute, because a test sends a request to any address. */
const TESTS_PER_MINUTE = 20;

/** Counts the tests of webhooks and channels together. */
@Injectable()
export class TestQuota {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** @throws Refusal `too-many` if the account's tests of this minute are used up */
  async count(accountId: string): Promise<void> {
    const rows: { tests: number }[] = await this.database.query(
      `INSERT INTO webhook_tests AS t (account_id, minute, tests) VALUES ($1, date_trunc('minute', now(), 'UTC'), 1)
       ON CONFLICT (account_id) DO UPDATE SET minute = EXCLUDED.minute,
         tests = CASE WHEN t.minute = EXCLUDED.minute THEN t.tests + 1 ELSE 1 END
       RETURNING tests`,
      [accountId],
    );
    if ((rows[0]?.tests ?? 0) > TESTS_PER_MINUTE)
      throw new Refusal(
        'too-many',
        'TOO_MANY_REQUESTS',
        `an account may send ${TESTS_PER_MINUTE} tests of webhooks and channels per minute; the next minute begins soon`,
      );
  }
}
