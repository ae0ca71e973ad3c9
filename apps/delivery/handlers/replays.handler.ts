import { create } from '@bufbuild/protobuf';
import { Controller, Inject } from '@nestjs/common';
import { DoneSchema, MadeSchema, type CancelReplay, type CreateReplay } from '#contracts';
import { Refusal } from '#kernel';
import { COMMANDS } from '#messaging';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';
import { CommandPattern } from '#transport';
import { AttemptRecorder } from '../attempts/attempt-recorder.js';
import { waitingFor } from '../attempts/pending-deliveries.js';
import { EventIndex } from '../replays/event-index.js';
import { ReplayDecisions } from '../replays/replay-decisions.js';
import { presentWebhook, requireEnabled } from './webhook-urls.js';

/** Executes the commands on replays. */
@Controller()
export class ReplaysHandler {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly index: EventIndex,
    private readonly decisions: ReplayDecisions,
    private readonly recorder: AttemptRecorder,
  ) {}

  /**
   * @throws Refusal `not-found` if the account has no such keyword or watch; `invalid` if there is no address or the
   *   request is bad; `conflict` if the endpoint is disabled or the account has too many open replays
   */
  @CommandPattern(COMMANDS.createReplay)
  async create(command: CreateReplay) {
    const {
      commandId: replayId,
      accountId,
      keywordId,
      watchId,
      since,
      until,
      types,
      ratePerSecond,
    } = command;
    const present = await presentWebhook(this.database, accountId, { keywordId, watchId });
    const url = command.url ?? present;
    if (!url)
      throw Refusal.validation([
        { path: 'url', message: `is required: the ${keywordId ? 'keyword' : 'watch'} has no webhook_url` },
      ]);
    await requireEnabled(this.database, accountId, url);
    const upToSequence = await this.index.lastSeq();
    await this.decisions.request(
      { accountId, replayId },
      { keywordId, watchId, since, until, url, types, ratePerSecond, upToSequence },
    );
    return create(MadeSchema, { id: replayId });
  }

  /**
   * Cancels a replay. Stores nothing if the replay has ended, because a purge can have deleted its earlier decisions.
   * @throws Refusal `not-found` if the account has no such replay
   */
  @CommandPattern(COMMANDS.cancelReplay)
  async cancel({ accountId, replayId }: CancelReplay) {
    if (await hasEnded(this.database, accountId, replayId)) return create(DoneSchema);
    await this.decisions.end({ accountId, replayId }, 'cancelled', '');
    const waiting = await waitingFor(this.database.manager, replayId);
    await this.recorder.giveUp(
      waiting.map((one) => ({ ...one, reason: 'not sent: the replay was cancelled' })),
    );
    return create(DoneSchema);
  }
}

async function hasEnded(database: Database, accountId: string, replayId: string): Promise<boolean> {
  const rows: unknown[] = await database.query(
    `SELECT 1 FROM replays WHERE account_id = $1 AND replay_id = $2 AND status NOT IN ('queued', 'running')`,
    [accountId, replayId],
  );
  return rows.length > 0;
}
