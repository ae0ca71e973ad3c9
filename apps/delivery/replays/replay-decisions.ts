import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { ReplayDecisionSchema, type ReplayDecision, type ReplayEvent } from '#contracts';
import { execute, type Aggregate } from '#decisions';
import type { EventStore } from '#event-store';
import { derivedId, isoOf, systemClock } from '#kernel';
import { DATABASE, STORE } from '#platform';
import type { Database, Tx } from '#postgres';
import {
  decide,
  evolve,
  NO_REPLAY,
  type ReplayCommand,
  type ReplayEnd,
  type ReplayRequest,
  type ReplayState,
} from '../domain/replay.js';
import { replaysProjection } from '../projections/replays.projection.js';
import { countsOf } from './replay-progress.js';

const replays: Aggregate<ReplayState, ReplayEvent, ReplayDecision> = {
  stream: 'REPLAYS',
  initial: NO_REPLAY,
  evolve,
  decode: (data) => fromBinary(ReplayDecisionSchema, data),
  encode: (decision) => toBinary(ReplayDecisionSchema, decision),
};

const NOTHING = { sent: 0, failed: 0, missing: 0, waiting: 0 };

/** The replay about which a command decides. */
export interface ReplayAddress {
  accountId: string;
  replayId: string;
}

/** Decides commands on replays: takes the account's lock, reads REPLAYS, and appends to REPLAYS. */
@Injectable()
export class ReplayDecisions {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
  ) {}

  /** @throws Refusal (see `decide` in domain/replay.ts) */
  async request(replay: ReplayAddress, request: ReplayRequest): Promise<void> {
    await this.run(replay, replay.replayId, async (tx) => {
      const rows: { open: number }[] = await tx.query(
        `SELECT count(*)::int AS open FROM replays WHERE account_id = $1 AND status IN ('queued', 'running')`,
        [replay.accountId],
      );
      return { kind: 'request', request, open: rows[0]?.open ?? 0 };
    });
  }

  async start(replay: ReplayAddress, matched: number): Promise<void> {
    await this.run(replay, derivedId('replay-start', replay.replayId), async () => ({
      kind: 'start',
      matched,
    }));
  }

  /**
   * Ends a replay if it has not ended. Its pending deliveries are counted as failed.
   * @throws Refusal `not-found` if the replay does not exist
   */
  async end(replay: ReplayAddress, status: ReplayEnd, message: string): Promise<void> {
    await this.run(replay, derivedId('replay-end', replay.replayId), async (tx) => {
      const counts = (await countsOf(tx, replay.replayId)) ?? NOTHING;
      const { sent, failed, missing, waiting } = counts;
      const lost =
        missing > 0
          ? `${missing} ${missing === 1 ? 'event is' : 'events are'} in the index but not in the stream`
          : '';
      return {
        kind: 'end',
        status,
        message: [message, lost].filter(Boolean).join('; '),
        counts: { sent, failed: failed + waiting, missing },
      };
    });
  }

  private async run(
    { accountId, replayId }: ReplayAddress,
    commandId: string,
    commandOf: (tx: Tx) => Promise<ReplayCommand>,
  ): Promise<void> {
    await execute(this.database, this.store, {
      aggregate: replays,
      projection: replaysProjection,
      accountId,
      subjectTokens: [replayId],
      commandId,
      decide: async (state, tx) => decide(await commandOf(tx), state),
      decisionOf: (events) =>
        create(ReplayDecisionSchema, {
          commandId,
          accountId,
          replayId,
          decidedAt: isoOf(systemClock.now()),
          events,
        }),
    });
  }
}
