import { Inject, Injectable } from '@nestjs/common';
import { balanceOf, type Balance } from '#credits';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';

/** What a period's charges of one source and operation come to. */
export interface Usage {
  source: string;
  operation: string;
  credits: number;
}

/** Which movements a page of the ledger shows. Values of one key are alternatives, keys add up. */
export interface LedgerPage {
  kinds: string[];
  sources: string[];
  keywords: string[];
  since: Date | undefined;
  until: Date | undefined;
  limit: number;
  /** Only what lies before it. */
  before: LedgerPosition | undefined;
}

/** A movement's place in its account's ledger. */
export interface LedgerPosition {
  seq: number;
  place: number;
}

/** A row of `credit_movements`. */
export interface MovementRow extends LedgerPosition {
  movement_id: string;
  at: Date;
  kind: string;
  amount: number;
  balance_after: number;
  operation: string | null;
  source: string | null;
  keyword_id: string | null;
  watch_id: string | null;
  check_id: string | null;
  rate: number | null;
  units: number | null;
  price_book_version: string | null;
  reference: string;
}

/** Reads balances and movements of credits. */
@Injectable()
export class CreditReads {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  balance(accountId: string): Promise<Balance | undefined> {
    return balanceOf(this.database, accountId);
  }

  async usage(accountId: string, periodStart: Date): Promise<Usage[]> {
    return this.database.query(
      `SELECT source, operation, credits FROM credit_usage WHERE account_id = $1 AND period_start = $2
       ORDER BY credits DESC, source, operation`,
      [accountId, periodStart],
    );
  }

  /** Newest first; one more than `limit`, so that the caller knows whether there is a next page. */
  async movements(accountId: string, page: LedgerPage): Promise<MovementRow[]> {
    const conditions = ['account_id = $1'];
    const values: unknown[] = [accountId];
    const where = (condition: (parameter: string) => string, value: unknown) => {
      values.push(value);
      conditions.push(condition(`$${values.length}`));
    };
    if (page.kinds.length > 0) where((kinds) => `kind = ANY(${kinds})`, page.kinds);
    if (page.sources.length > 0) where((sources) => `source = ANY(${sources})`, page.sources);
    if (page.keywords.length > 0) where((ids) => `keyword_id = ANY(${ids}::uuid[])`, page.keywords);
    if (page.since) where((since) => `at >= ${since}`, page.since);
    if (page.until) where((until) => `at < ${until}`, page.until);
    if (page.before) {
      values.push(page.before.seq, page.before.place);
      conditions.push(`(seq, place) < ($${values.length - 1}, $${values.length})`);
    }
    values.push(page.limit + 1);
    return this.database.query(
      `SELECT * FROM credit_movements WHERE ${conditions.join(' AND ')}
       ORDER BY seq DESC, place DESC LIMIT $${values.length}`,
      values,
    );
  }
}
