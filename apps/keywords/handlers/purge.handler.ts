import { fromBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { PurgeSchema } from '#contracts';
import type { EventStore } from '#event-store';
import { purgeDurable, subjectOf, type Bus, type Durable } from '#messaging';
import { BUS, DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';

/** Deletes a purged keyword from the streams and from the tables of this service. */
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
      for (const id of [...watchIds, keywordId])
        for (const stream of ['CHECKS', 'EVENTS', 'ATTEMPTS'] as const)
          await this.store.erase(stream, subjectOf(stream, accountId, id));
      await this.store.erase('LABELS', subjectOf('LABELS', accountId, keywordId, '*'));
      await this.eraseParked([keywordId, ...watchIds]);
      const subject = subjectOf('KEYWORDS', accountId, keywordId);
      await this.store.erase('KEYWORDS', subject);
      await this.database.query('DELETE FROM keywords WHERE keyword_id = $1', [keywordId]);
      await this.database.query('DELETE FROM mention_labels WHERE owner_id = $1', [keywordId]);
      await this.database.query(`DELETE FROM projection_positions WHERE subject = $1 OR subject LIKE $2`, [
        subject,
        `${subjectOf('LABELS', accountId, keywordId)}.%`,
      ]);
      await this.database.query(`DELETE FROM purged_keywords WHERE purged_at < now() - interval '7 days'`);
      await this.forgetAnswers(accountId, keywordId);
    });
  }

  /**
   * What was answered under an Idempotency-Key when it was made holds all that it was; the key stays used up. Its
   * estimate does not name it: every estimate of the account is forgotten, which is made anew when it is asked for.
   */
  private async forgetAnswers(accountId: string, keywordId: string): Promise<void> {
    await this.database.query(
      `UPDATE idempotency_records SET status = 404, body = $3
       WHERE account_id = $1 AND strpos(body, $2) > 0`,
      [accountId, keywordId, JSON.stringify({ error: 'keyword not found', code: 'NOT_FOUND' })],
    );
    await this.database.query(
      `DELETE FROM idempotency_records WHERE account_id = $1 AND strpos(body, '"estimateToken"') > 0`,
      [accountId],
    );
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
