import { create } from '@bufbuild/protobuf';
import { Controller, Inject } from '@nestjs/common';
import { DoneSchema, ResendingSchema, type EnableEndpoint, type Resend } from '#contracts';
import { withAccountLock } from '#decisions';
import { Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import { DATABASE } from '#platform';
import type { Database, Tx } from '#postgres';
import { currentTraceparent } from '#telemetry';
import { CommandPattern } from '#transport';
import { savePending, type PendingDelivery } from '../attempts/pending-deliveries.js';
import { EventIndex } from '../replays/event-index.js';
import { presentWebhook, requireEnabled } from './webhook-urls.js';

/**
 * Maximum number of waiting resends of one account. There is a limit because each resend can go to another address, and
 * is retried for up to 48 hours.
 */
const MAX_WAITING_RESENDS = 200;

/** Sends single events again, and enables endpoints. */
@Controller()
export class DeliveriesHandler {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly index: EventIndex,
  ) {}

  /**
   * Queues the event for the address, as a separate delivery.
   * @throws Refusal `not-found` if the account does not have the event, or if the event, its keyword or its watch is
   *   not kept any more; `invalid` if there is no address; `conflict` if the endpoint is disabled; `too-many` if the
   *   maximum number of resends is waiting
   */
  @CommandPattern(COMMANDS.resend)
  async resend({ commandId, accountId, eventId, url }: Resend) {
    const indexed = await this.index.find(accountId, eventId);
    const event = indexed && (await this.index.read(indexed));
    if (!event) throw Refusal.notFound('event');
    const { watchId, keywordId } = event;
    const owner = keywordId ? { keywordId, watchId: '' } : { keywordId: '', watchId };
    const present = await presentWebhook(this.database, accountId, owner);
    const endpoint = url ?? present;
    if (!endpoint)
      throw Refusal.validation([
        { path: 'url', message: `is required: the ${keywordId ? 'keyword' : 'watch'} has no webhook_url` },
      ]);
    await requireEnabled(this.database, accountId, endpoint);
    const waiting: PendingDelivery = {
      eventId,
      target: { kind: 'resend', id: commandId },
      accountId,
      watchId,
      keywordId,
      source: event.source,
      endpoint,
      body: event.envelope,
      attempts: 0,
      firstAt: Date.now(),
      pending: true,
      cause: currentTraceparent(),
    };
    await withAccountLock(this.database, accountId, async (tx) => {
      await limitResends(tx, accountId);
      await savePending(tx, [waiting]);
    });
    return create(ResendingSchema, { endpoint });
  }

  /**
   * Enables an endpoint: new events are sent to the endpoint again. Events that were given up while the endpoint was
   * disabled are sent only by a replay or a resend.
   */
  @CommandPattern(COMMANDS.enableEndpoint)
  async enable({ accountId, url }: EnableEndpoint) {
    await this.database.query(
      'DELETE FROM webhook_endpoints WHERE account_id = $1 AND endpoint = $2 AND disabled_at IS NOT NULL',
      [accountId, url],
    );
    return create(DoneSchema);
  }
}

async function limitResends(tx: Tx, accountId: string): Promise<void> {
  const rows: unknown[] = await tx.query(
    `SELECT 1 FROM pending_deliveries WHERE account_id = $1 AND target_kind = 'resend' LIMIT $2`,
    [accountId, MAX_WAITING_RESENDS],
  );
  if (rows.length >= MAX_WAITING_RESENDS)
    throw new Refusal(
      'too-many',
      'TOO_MANY_REQUESTS',
      `${MAX_WAITING_RESENDS} resends of this account are waiting; use a replay to send many events`,
    );
}
