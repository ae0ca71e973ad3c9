import { Inject, Injectable } from '@nestjs/common';
import type { AnswerRow, ClickHouseClient } from '#clickhouse';
import { CLICKHOUSE } from '#platform';
import { readPage, type TimeList, type TimePage } from './time-page.js';

/** Whose answers, and which. */
export interface AnswerQuery {
  accountId: string;
  /** One of the two. */
  keywordId?: string | undefined;
  watchId?: string | undefined;
  engines: string[];
}

/** Reads the answers of AI engines as they were kept. */
@Injectable()
export class AnswerReads {
  constructor(@Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient) {}

  /** Answers, and one more than the page has. */
  answers({ accountId, keywordId, watchId, engines }: AnswerQuery, page: TimePage): Promise<AnswerRow[]> {
    const conditions = [
      'account_id = {accountId: UUID}',
      keywordId ? 'keyword_id = {keywordId: UUID}' : 'watch_id = {watchId: UUID}',
    ];
    if (engines.length > 0) conditions.push('engine IN {engines: Array(String)}');
    const owner = keywordId ? { keywordId } : { watchId };
    const params = { accountId, ...owner, ...(engines.length > 0 ? { engines } : {}) };
    return readPage(this.clickhouse, ANSWERS, conditions, params, page);
  }
}

/** Answers by their time. One check asks each engine once. */
export const ANSWERS: TimeList<AnswerRow> = {
  table: 'answers',
  time: 'answered_at',
  id: `concat(toString(check_id), ' ', engine)`,
  idOf: (row) => `${row.check_id} ${row.engine}`,
};
