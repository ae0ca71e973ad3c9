import { fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { PurgeSchema } from '#contracts';
import type { EventStore } from '#event-store';
import { eraseTwice, getMessage, purgeConsumer, subjectOf, type Bus, type Outcome } from '#messaging';
import { BUS, DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { forgetPositions } from '#projections';
import { ConsumerPattern } from '#transport';
import { keywordsProjection } from '../projections/keywords.projection.js';

/**
 * Deletes the decisions about a purged keyword, its rows, and its parked messages. Each service deletes its own data.
 */
@Controller()
export class PurgeHandler {
  constructor(
    @Inject(BUS) private readonly bus: Bus,
    @Inject(STORE) private readonly store: EventStore,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  @ConsumerPattern(purgeConsumer('keywords'))
  handle(batch: readonly JsMsg[]): Promise<Outcome[]> {
    return eraseTwice(batch, (purge) => this.erase(purge));
  }

  private async erase(purge: Uint8Array): Promise<void> {
    const { accountId, keywordId, watchIds } = fromBinary(PurgeSchema, purge);
    await this.eraseParked([keywordId, ...watchIds]);
    const subject = subjectOf('KEYWORDS', accountId, keywordId);
    await this.store.erase('KEYWORDS', subject);
    await this.database.query('DELETE FROM keywords WHERE keyword_id = $1', [keywordId]);
    await forgetPositions(this.database.manager, keywordsProjection, [subject]);
    await this.database.query(`DELETE FROM purged_keywords WHERE purged_at < now() - interval '7 days'`);
  }

  /**
   * Deletes the parked messages that concern these ids. Reads all parked messages, because there are few. The header
   * `earshot-subject` contains the original subject.
   */
  private async eraseParked(ids: readonly string[]): Promise<void> {
    for (let seq = 1; ;) {
      const parked = await getMessage(this.bus, 'PARKED', { seq, next_by_subj: 'parked.>' });
      if (!parked) return;
      const tokens = parked.header.get('earshot-subject').split('.');
      if (ids.some((id) => tokens.includes(id)))
        await this.bus.jsm.streams.deleteMessage('PARKED', parked.seq, true);
      seq = parked.seq + 1;
    }
  }
}

/**
 * From this point on, the reads of keywords do not find the keyword. Its messages and its data in other stores are
 * deleted later, by the consumers of PURGES.
 */
export async function markPurged(
  database: Database,
  { keywordId, accountId }: { keywordId: string; accountId: string },
): Promise<void> {
  await database.query(
    `WITH gone AS (DELETE FROM keywords WHERE keyword_id = $1)
     INSERT INTO purged_keywords (keyword_id, account_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
    [keywordId, accountId],
  );
}
