import { Inject, Injectable } from '@nestjs/common';
import type { AnswerRow, ClickHouseClient } from '#clickhouse';
import { CLICKHOUSE } from '#platform';
import { readPage, type TimeList, type TimePage } from './time-page.js';

/** The filter of a list of answers. */
export interface AnswerQuery {
  accountId: string;
  /** Either `keywordId` or `watchId`. */
  keywordId?: string | undefined;
  watchId?: string | undefined;
  engines: string[];
}

/** Reads the stored answers of AI engines. */
@Injectable()
export class AnswerReads {
  constructor(@Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient) {}

  /** Returns a page of answers, and one more row if there is a next page. */
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

/**
 * The list of answers by time. A check asks each engine only once, so the engine identifies an answer of a check.
 */
export const ANSWERS: TimeList<AnswerRow> = {
  table: 'answers',
  time: 'answered_at',
  id: `concat(toString(check_id), ' ', engine)`,
  idOf: (row) => `${row.check_id} ${row.engine}`,
};
