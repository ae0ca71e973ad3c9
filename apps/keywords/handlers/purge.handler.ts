import { fromBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { PurgeSchema } from '#contracts';
import type { EventStore } from '#event-store';
import { purgeDurable, subjectOf, type Bus, type Durable } from '#messaging';
import { BUS, DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { forgetPositions } from '#projections';
import { keywordsProjection } from '../projections/keywords.projection.js';

/** Deletes the decisions about a purged keyword, its rows, and what of it was set aside. Each service deletes its own. */
@Injectable()
export class PurgeHandler {
  constructor(
    @Inject(BUS) private readonly bus: Bus,
    @Inject(STORE) private readonly store: EventStore,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  durable(): Durable {
    return purgeDurable('keywords', async (data) => {
      const { accountId, keywordId, watchIds } = fromBinary(PurgeSchema, data);
      await this.eraseParked([keywordId, ...watchIds]);
      const subject = subjectOf('KEYWORDS', accountId, keywordId);
      await this.store.erase('KEYWORDS', subject);
      await this.database.query('DELETE FROM keywords WHERE keyword_id = $1', [keywordId]);
      await forgetPositions(this.database.manager, keywordsProjection, [subject]);
      await this.database.query(`DELETE FROM purged_keywords WHERE purged_at < now() - interval '7 days'`);
    });
  }

  /** Parked copies are few, and named by the subject that they came from. */
  private async eraseParked(ids: readonly string[]): Promise<void> {
    for (let seq = 1; ;) {
      const parked = await this.bus.jsm.direct.getMessage('PARKED', { seq, next_by_subj: 'parked.>' });
      if (!parked) return;
      const tokens = parked.header.get('earshot-subject').split('.');
      if (ids.some((id) => tokens.includes(id)))
        await this.bus.jsm.streams.deleteMessage('PARKED', parked.seq, true);
      seq = parked.seq + 1;
    }
  }
}
