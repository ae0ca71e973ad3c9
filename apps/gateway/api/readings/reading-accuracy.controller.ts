import { Controller, Get, Query } from '@nestjs/common';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { AccuracyReads, CORRECTED_FIELDS } from '../../reads/accuracy-reads.js';
import { accuracyOf } from './accuracy.js';

/** Compares the readings with the account's own corrections. Free. */
@Controller()
export class ReadingAccuracyController {
  constructor(private readonly reads: AccuracyReads) {}

  @Get('v1/readings/accuracy')
  async accuracy(@From() { accountId }: Caller, @Query() raw: RawQuery) {
    const query = new QueryReader(raw);
    const keywords = query.ids('keyword', 'a keyword');
    const since = query.instant('since');
    query.finish();
    const found = await Promise.all(
      CORRECTED_FIELDS.map(async (field) => {
        const counts = await this.reads.counts(accountId, field, keywords, since);
        return accuracyOf(counts).map(({ reader, model, version, ...figures }) => ({
          ...{ reader, model, version, field },
          ...figures,
        }));
      }),
    );
    return { data: found.flat() };
  }
}
