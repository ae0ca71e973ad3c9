import { fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { PurgeSchema } from '#contracts';
import type { EventStore } from '#event-store';
import { eraseTwice, purgeConsumer, subjectOf, type Outcome } from '#messaging';
import { DATABASE, STORE } from '#platform';
import { transactionWithoutLimit, type Database, type Tx } from '#postgres';
import { forgetPositions } from '#projections';
import { ConsumerPattern } from '#transport';
import { replaysProjection } from '../projections/replays.projection.js';
import { purgeReplays, replaysOf } from '../replays/replay-progress.js';

/**
 * Ends the replays of a purged keyword. Deletes its attempts, its pending deliveries, and the endpoints that
 * the account no longer uses.
 */
@Controller()
export class PurgeHandler {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
  ) {}

  @ConsumerPattern(purgeConsumer('delivery'))
  handle(batch: readonly JsMsg[]): Promise<Outcome[]> {
    return eraseTwice(batch, (purge) => this.erase(purge));
  }

  private async erase(purge: Uint8Array): Promise<void> {
    const { accountId, keywordId, watchIds } = fromBinary(PurgeSchema, purge);
    const replayIds = await replaysOf(this.database.manager, keywordId, watchIds);
    // The replays in the table are ended before their messages are purged, because a running turn of a replay reads the
    // table.
    await purgeReplays(this.database.manager, replayIds);
    const subjects = replayIds.map((id) => subjectOf('REPLAYS', accountId, id));
    for (const subject of subjects) await this.store.erase('REPLAYS', subject);
    await forgetPositions(this.database.manager, replaysProjection, subjects);
    for (const id of [...watchIds, keywordId])
      await this.store.erase('ATTEMPTS', subjectOf('ATTEMPTS', accountId, id));
    await transactionWithoutLimit(this.database, async (tx) => {
      await tx.query('DELETE FROM pending_deliveries WHERE watch_id = ANY($1)', [[...watchIds, keywordId]]);
      await forgetEndpoints(tx, accountId);
    });
  }
}

/** Deletes addresses that the account does not use any more, because they can contain purged data. */
async function forgetEndpoints(tx: Tx, accountId: string): Promise<void> {
  await tx.query(
    `DELETE FROM webhook_endpoints e WHERE account_id = $1 AND endpoint NOT LIKE 'channel:%'
       AND NOT EXISTS (SELECT 1 FROM keywords k WHERE k.account_id = $1 AND k.definition->>'webhookUrl' = e.endpoint)
       AND NOT EXISTS (SELECT 1 FROM watches w WHERE w.account_id = $1 AND w.webhook_url = e.endpoint)
       AND NOT EXISTS (SELECT 1 FROM pending_deliveries p WHERE p.account_id = $1 AND p.endpoint = e.endpoint)
       AND NOT EXISTS (SELECT 1 FROM replays r WHERE r.account_id = $1 AND r.url = e.endpoint)`,
    [accountId],
  );
}
