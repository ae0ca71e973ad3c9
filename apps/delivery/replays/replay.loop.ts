import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Repeated, within } from '#kernel';
import { DATABASE, LOG, type Loop } from '#platform';
import type { Database } from '#postgres';
import { arriveWith, SpanKind, type Logger } from '#telemetry';
import { STOP_TIMEOUT_MS } from '../attempts/endpoint-queues.js';
import { addressKey, Targets } from '../attempts/targets.js';
import { EventIndex, type IndexedEvent, type Position } from './event-index.js';
import { ReplayDecisions } from './replay-decisions.js';
import {
  claimReplays,
  countsOf,
  endTurn,
  keepClaims,
  LostReplay,
  PURGED,
  claimStateOf,
  type ClaimedReplay,
} from './replay-progress.js';
import { ReplaySender } from './replay-sender.js';

const PAUSE_MS = 500;
/** How often the claims of running turns are extended. A claim lasts four times as long. */
const KEEP_MS = 5000;
/** Maximum number of replays that a replica runs at the same time. */
const AT_ONCE = 8;
/** Maximum number of events that a replay sends in one turn, so that other replays also get a turn. */
const TURN_EVENTS = 50;
/** Number of events in one query of the index. */
const PAGE = 2000;
/** How long a replay waits before it checks again whether the index contains its events. */
const NOT_INDEXED_YET_MS = 500;
/** How long a replay waits before it counts its pending retries again. */
const RETRIES_LOOK_MS = 1000;
/**
 * If this number of events of a replay wait for a retry, the replay pauses, because the bytes of waiting events use
 * space in Postgres.
 */
const MAX_WAITING = 1000;

/** Runs replays, turn by turn. After a crash, a replay continues from the end of its last turn. */
@Injectable()
export class ReplayLoop implements Loop {
  readonly name = 'replays';
  private readonly underWay = new Map<Promise<void>, ClaimedReplay>();
  /** Events that were read in advance, by replay and position. */
  private readonly ahead = new LRUCache<string, IndexedEvent[]>({ max: AT_ONCE * 4 });
  private readonly rounds = new Repeated({
    pauseMs: PAUSE_MS,
    run: async (signal) => {
      const begun = await this.begin(signal);
      if (begun > 0 && this.underWay.size >= AT_ONCE) await Promise.race(this.underWay.keys());
      return begun > 0;
    },
    failed: (error) => this.log.error({ err: error }, 'replays could not be claimed'),
  });
  /** If another turn began before the attempts of a turn are recorded, it would send the same events again. */
  private readonly keeping = new Repeated({
    pauseMs: KEEP_MS,
    run: () => keepClaims(this.database, [...this.underWay.values()]),
    failed: (error) => this.log.error({ err: error }, 'the claims of replays could not be kept'),
  });

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly index: EventIndex,
    private readonly targets: Targets,
    private readonly decisions: ReplayDecisions,
    private readonly sender: ReplaySender,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  start(): void {
    this.rounds.start();
    this.keeping.start();
  }

  async stop(): Promise<void> {
    await this.rounds.stop();
    await within(STOP_TIMEOUT_MS, Promise.all(this.underWay.keys()));
    await this.keeping.stop();
  }

  private async begin(signal: AbortSignal): Promise<number> {
    const free = AT_ONCE - this.underWay.size;
    const running = [...this.underWay.values()].map(({ replayId }) => replayId);
    const claimed = free > 0 ? await claimReplays(this.database, free, running) : [];
    for (const replay of claimed) {
      const turn = arriveWith('replay', SpanKind.INTERNAL, {}, () => this.turn(replay, signal))
        .catch((error: unknown) => {
          // The replay has ended meanwhile, or another replica has it.
          if (error instanceof LostReplay) return;
          this.log.error(
            { err: error, replayId: replay.replayId },
            'a turn of a replay failed; it is repeated',
          );
        })
        .finally(() => this.underWay.delete(turn));
      this.underWay.set(turn, replay);
    }
    return claimed.length;
  }

  private async turn(replay: ClaimedReplay, signal: AbortSignal): Promise<void> {
    const { decisions, sender } = this;
    const state = await claimStateOf(this.database, replay);
    if (state === 'lost') return;
    if (state === 'purged') return decisions.end(replay, 'cancelled', PURGED);
    if (!(await this.index.holds(replay.upToSeq))) return this.pause(replay, NOT_INDEXED_YET_MS);
    if (replay.status === 'queued') await decisions.start(replay, await this.index.count(replay));
    const address = { accountId: replay.accountId, endpoint: replay.url };
    const endpoint = (await this.targets.endpoints([address])).get(addressKey(address));
    if (!endpoint) return decisions.end(replay, 'failed', 'the endpoint does not exist any more');
    if (endpoint.disabledReason !== undefined)
      return decisions.end(replay, 'failed', `the endpoint is disabled: ${endpoint.disabledReason}`);
    const waiting = (await countsOf(this.database.manager, replay.replayId))?.waiting ?? 0;
    if (waiting >= MAX_WAITING) return this.pause(replay, RETRIES_LOOK_MS);
    const events = await this.nextOf(replay);
    if (events.length === 0)
      return waiting > 0 ? this.pause(replay, RETRIES_LOOK_MS) : decisions.end(replay, 'done', '');
    const turn = events.slice(0, Math.min(TURN_EVENTS, replay.ratePerSecond));
    const after = await sender.send(replay, turn, endpoint, signal);
    if (after) this.keepAhead(replay.replayId, after, events);
  }

  /** Ends the turn without sending. The next turn begins after `waitMs`. */
  private pause(replay: ClaimedReplay, waitMs: number): Promise<void> {
    return endTurn(this.database.manager, replay, { after: undefined, missing: 0, waitMs });
  }

  private async nextOf(replay: ClaimedReplay): Promise<IndexedEvent[]> {
    const known = this.ahead.get(aheadKey(replay.replayId, replay.after));
    return known ?? this.index.page(replay, replay.after, PAGE);
  }

  private keepAhead(replayId: string, after: Position, events: IndexedEvent[]): void {
    const left = events.slice(events.findIndex(({ id }) => id === after.id) + 1);
    if (left.length > 0) this.ahead.set(aheadKey(replayId, after), left);
  }
}

function aheadKey(replayId: string, after: Position | undefined): string {
  return `${replayId} ${after?.at ?? ''} ${after?.id ?? ''}`;
}
