import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { DATABASE, LOG } from '#platform';
import type { Database } from '#postgres';
import { currentTraceparent, type Logger } from '#telemetry';
import { AttemptRecorder } from '../attempts/attempt-recorder.js';
import type { AttemptResult, Delivery } from '../attempts/delivery.js';
import { EndpointQueues } from '../attempts/endpoint-queues.js';
import { GONE } from '../attempts/endpoints.js';
import type { Endpoint } from '../attempts/targets.js';
import { EventIndex, type IndexedEvent, type Position } from './event-index.js';
import { endTurn, LostReplay, claimStateOf, type ClaimedReplay } from './replay-progress.js';

/** After this time, a turn sends no further event. */
const TURN_MS = 2000;
/** How often a turn checks whether its replay was cancelled or purged. */
const LOOK_MS = 100;
/** How long a replay waits if its endpoint is slow and has no free place for a request. */
const NO_ROOM_MS = 1000;

/** The progress of a turn. */
interface Progress {
  results: AttemptResult[];
  after: Position | undefined;
  missing: number;
  /** True if an event was not sent, because the slow endpoint had no free place for a request. */
  crowded: boolean;
}

/**
 * Makes the first attempts of a replay, one event after the other. Failed deliveries wait for a retry, like other
 * deliveries.
 */
@Injectable()
export class ReplaySender {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly index: EventIndex,
    private readonly queues: EndpointQueues,
    private readonly recorder: AttemptRecorder,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /**
   * Sends the events of one turn, and writes its progress.
   * @returns the position of the last processed event of the replay; undefined if there is none yet, and after
   *   `LostReplay`
   */
  async send(
    replay: ClaimedReplay,
    events: readonly IndexedEvent[],
    endpoint: Endpoint,
    stop: AbortSignal,
  ): Promise<Position | undefined> {
    // Not the wall clock: after it was set back, the replay would wait too long.
    const began = performance.now();
    const progress: Progress = { results: [], after: replay.after, missing: 0, crowded: false };
    try {
      await this.sendInOrder(progress, replay, events, endpoint, stop);
    } catch (error) {
      if (progress.after === replay.after) throw error;
      // The turn continues with the record of its attempts. Without this record, these attempts would be made again.
      this.log.warn({ err: error, replayId: replay.replayId }, 'a turn of a replay ends early');
    }
    const { results, after, missing, crowded } = progress;
    if (missing > 0)
      this.log.warn(
        { replayId: replay.replayId, missing, until: after },
        'the index contains events that EVENTS does not contain',
      );
    const waitMs = crowded
      ? NO_ROOM_MS
      : began + (results.length * 1000) / replay.ratePerSecond - performance.now();
    try {
      await this.recorder.record(results, (tx) => endTurn(tx, replay, { after, missing, waitMs }));
    } catch (error) {
      if (!(error instanceof LostReplay)) throw error;
      const reason = 'not sent again: the replay has ended, or another process continues it';
      const failed = results.filter(({ delivered }) => !delivered);
      await this.recorder.giveUp(failed.map(({ delivery }) => ({ ...delivery, reason })));
      return undefined;
    }
    return after;
  }

  /** @param progress changes with each event, so that it is correct even if a store cannot answer in the middle */
  private async sendInOrder(
    progress: Progress,
    replay: ClaimedReplay,
    events: readonly IndexedEvent[],
    endpoint: Endpoint,
    stop: AbortSignal,
  ): Promise<void> {
    const began = performance.now();
    let lookedAt = began;
    for (const entry of events) {
      const { results } = progress;
      const pauseMs = began + (results.length * 1000) / replay.ratePerSecond - performance.now();
      if (pauseMs > 0) await wait(pauseMs, undefined, { signal: stop }).catch(() => undefined);
      if (stop.aborted || performance.now() - began > TURN_MS) break;
      if (performance.now() - lookedAt > LOOK_MS) {
        if ((await claimStateOf(this.database, replay)) !== 'claimed') break;
        lookedAt = performance.now();
      }
      const delivery = await this.deliveryOf(replay, entry, endpoint);
      const result = delivery && (await this.queues.attempt(delivery));
      progress.crowded = delivery !== undefined && result === undefined;
      if (progress.crowded) break;
      if (result) results.push(result);
      else progress.missing += 1;
      progress.after = { at: entry.at, id: entry.id };
      if (result?.statusCode === GONE) break;
    }
  }

  private async deliveryOf(
    { replayId, accountId, url }: ClaimedReplay,
    entry: IndexedEvent,
    { signing, failingSince }: Endpoint,
  ): Promise<Delivery | undefined> {
    const event = await this.index.read(entry);
    if (!event) return undefined;
    return {
      eventId: event.eventId,
      target: { kind: 'replay', id: replayId },
      accountId,
      watchId: event.watchId,
      keywordId: event.keywordId,
      source: event.source,
      endpoint: url,
      body: event.envelope,
      signing,
      attempts: 0,
      firstAt: Date.now(),
      failingSince,
      pending: false,
      cause: currentTraceparent(),
    };
  }
}
