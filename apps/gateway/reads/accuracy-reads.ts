import { Inject, Injectable } from '@nestjs/common';
import { selectRows, type ClickHouseClient } from '#clickhouse';
import { CLICKHOUSE } from '#platform';
import { PurgedKeywords } from './purged-keywords.js';
import { clickHouseTime } from './time-page.js';

/** The readings that a person can correct. */
export const CORRECTED_FIELDS = ['sentiment', 'intent', 'relevance'] as const;
/** A reading that a person can correct. */
export type CorrectedField = (typeof CORRECTED_FIELDS)[number];

/** The number of mentions for which a reader found one value and a person set the same or another value. */
export interface ReadAndCorrected {
  reader: string;
  model: string;
  version: string;
  read: string;
  corrected: string;
  count: number;
}

/** SQL for the value that was read, for the person's value, and for the condition that both exist. */
const COLUMNS: Readonly<Record<CorrectedField, { read: string; corrected: string; both: string }>> = {
  sentiment: {
    read: 'sentiment',
    corrected: 'corrected_sentiment',
    both: `sentiment != '' AND corrected_sentiment != ''`,
  },
  intent: {
    read: 'intent',
    corrected: 'corrected_intent',
    both: `intent != '' AND corrected_intent != ''`,
  },
  // Two numbers are rarely equal, so the halves of the scale are compared: relevant or irrelevant.
  relevance: {
    read: `if(relevance >= 50, 'relevant', 'irrelevant')`,
    corrected: `if(corrected_relevance >= 50, 'relevant', 'irrelevant')`,
    both: 'relevance IS NOT NULL AND corrected_relevance IS NOT NULL',
  },
};

/** Compares readings with the corrections of an account. */
@Injectable()
export class AccuracyReads {
  constructor(
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
    private readonly purged: PurgedKeywords,
  ) {}

  /** @param keywords empty: all keywords of the account */
  async counts(
    accountId: string,
    field: CorrectedField,
    keywords: readonly string[],
    since: Date | undefined,
  ): Promise<ReadAndCorrected[]> {
    const { read, corrected, both } = COLUMNS[field];
    const purged = await this.purged.of(accountId);
    // Relevance is always read by the local reader, whose records come first.
    const readerColumns =
      field === 'relevance'
        ? `'local' AS reader, simpleJSONExtractString(readings, 'model') AS model,
           simpleJSONExtractString(readings, 'version') AS version`
        : 'reader, reader_model AS model, reader_version AS version';
    return selectRows<ReadAndCorrected>(
      this.clickhouse,
      `SELECT ${readerColumns},
         ${read} AS read, ${corrected} AS corrected, toUInt32(count()) AS count
       FROM mentions FINAL
       WHERE account_id = {accountId: UUID} AND ${both}
         AND keyword_id NOT IN {purged: Array(UUID)}
         ${keywords.length > 0 ? 'AND keyword_id IN {keywords: Array(UUID)}' : ''}
         ${since ? `AND occurred_at >= {since: DateTime64(3, 'UTC')}` : ''}
       GROUP BY ALL ORDER BY reader, model, version, read, corrected`,
      { accountId, purged, keywords, ...(since && { since: clickHouseTime(since) }) },
    );
  }
}
