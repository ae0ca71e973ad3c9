import { Inject, Injectable } from '@nestjs/common';
import { selectRows, type AnswerRow, type ClickHouseClient } from '#clickhouse';
import { CLICKHOUSE } from '#platform';
import type { Position } from './mention-reads.js';

/** Whose answers, which, and which page of them. */
export interface AnswerQuery {
  accountId: string;
  /** One of the two. */
  keywordId?: string | undefined;
  watchId?: string | undefined;
  engines: string[];
  since: Date;
  until: Date | undefined;
  limit: number;
  after: Position | undefined;
}

/** Reads the answers of AI engines as they were kept. */
@Injectable()
export class AnswerReads {
  constructor(@Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient) {}

  /** Newest first; one more than `limit`, so that the caller knows whether there is a next page. */
  answers(query: AnswerQuery): Promise<AnswerRow[]> {
    const { accountId, keywordId, watchId, engines, since, until, limit, after } = query;
    const conditions = [
      'account_id = {accountId: UUID}',
      keywordId ? 'keyword_id = {keywordId: UUID}' : 'watch_id = {watchId: UUID}',
      `answered_at >= {since: DateTime64(3, 'UTC')}`,
    ];
    if (until) conditions.push(`answered_at < {until: DateTime64(3, 'UTC')}`);
    if (engines.length > 0) conditions.push('engine IN {engines: Array(String)}');
    if (after) conditions.push(`(answered_at, ${ID}) < ({at: DateTime64(3, 'UTC')}, {id: String})`);
    const column = (at: Date) => at.toISOString().replace('T', ' ').replace('Z', '');
    return selectRows<AnswerRow>(
      this.clickhouse,
      `SELECT * FROM answers WHERE ${conditions.join(' AND ')}
       ORDER BY answered_at DESC, ${ID} DESC LIMIT 1 BY check_id, engine LIMIT ${limit + 1}`,
      {
        accountId,
        since: column(since),
        ...(keywordId ? { keywordId } : { watchId }),
        ...(until ? { until: column(until) } : {}),
        ...(engines.length > 0 ? { engines } : {}),
        ...after,
      },
    );
  }
}

/** One check asks each engine once. */
const ID = `concat(toString(check_id), ' ', engine)`;

/** The position after a row. */
export function answerPosition(row: AnswerRow): Position {
  return { at: row.answered_at, id: `${row.check_id} ${row.engine}` };
}
