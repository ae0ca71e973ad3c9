import { fromBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { PurgeSchema } from '#contracts';
import { purgeDurable, subjectOf, type Bus, type Durable } from '#messaging';
import { BUS, DATABASE } from '#platform';
import type { Database } from '#postgres';

/** Deletes a purged keyword from the streams and from the tables of this service. */
@Injectable()
export class PurgeHandler {
  constructor(
    @Inject(BUS) private readonly bus: Bus,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  durable(): Durable {
    return purgeDurable('keywords', async (data) => {
      const { accountId, keywordId, watchIds } = fromBinary(PurgeSchema, data);
      for (const watchId of watchIds)
        for (const stream of ['CHECKS', 'EVENTS', 'ATTEMPTS'] as const)
          await this.bus.jsm.streams.purge(stream, { filter: subjectOf(stream, accountId, watchId) });
      await this.purgeParked([keywordId, ...watchIds]);
      const subject = subjectOf('KEYWORDS', accountId, keywordId);
      await this.bus.jsm.streams.purge('KEYWORDS', { filter: subject });
      await this.database.query('DELETE FROM keywords WHERE keyword_id = $1', [keywordId]);
      await this.database.query('DELETE FROM projection_positions WHERE subject = $1', [subject]);
    });
  }

  /** Parked copies are few, and named by the subject that they came from. */
  private async purgeParked(ids: readonly string[]): Promise<void> {
    for (let seq = 1; ;) {
      const parked = await this.bus.jsm.direct.getMessage('PARKED', { seq, next_by_subj: 'parked.>' });
      if (!parked) return;
      const tokens = parked.header.get('earshot-subject').split('.');
      if (ids.some((id) => tokens.includes(id)))
        await this.bus.jsm.streams.deleteMessage('PARKED', parked.seq);
      seq = parked.seq + 1;
    }
  }
}
