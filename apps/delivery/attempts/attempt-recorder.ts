import { setTimeout as wait } from 'node:timers/promises';
import type { EventStore } from '#event-store';
import { failpoint } from '#kernel';
import { isOutage } from '#outages';
import type { Database, Tx } from '#postgres';
import { metrics, type Logger } from '#telemetry';
import { attemptMessages, disabledMessage, type Recorded } from './attempt-messages.js';
import { DISABLED } from './claims.js';
import { keyOf, type Addressed, type AttemptResult, type Delivery, type GivenUp } from './delivery.js';
import { disableEndpoints, failingChannels, markEndpoints, pauseEndpoints } from './endpoints.js';
import { isPostponed, nextOf } from './next-attempt.js';
import {
  dropPending,
  dropWaitingAt,
  savePending,
  updatePending,
  type PendingDelivery,
} from './pending-deliveries.js';
import { addressKey } from './targets.js';
import { countReplays } from '../replays/replay-progress.js';

/** Records that the destination of a channel is gone, or fails. */
export interface ChannelFaults {
  /**
   * @param address the email address that is gone; undefined if the whole channel is gone
   * @returns `disabled`: the channel is disabled now; `changed`: its config has changed since the attempt began;
   *   `not-disabled`: all other cases
   */
  gone(
    delivery: Delivery,
    reason: string,
    statusCode: number,
    address?: string,
  ): Promise<'disabled' | 'changed' | 'not-disabled'>;
  /** @returns true if the channel is disabled now */
  failing(delivery: Delivery, reason: string, failures: number, statusCode: number): Promise<boolean>;
}

/** Number of waiting deliveries that are given up in one transaction. */
const GIVEN_UP_TOGETHER = 1000;
/** Pause before a step of the record is tried again after an outage of a store, in ms. */
const PAUSE_MS = 500;

/**
 * Records attempts in batches: publishes the facts to ATTEMPTS, and updates the tables. During an outage of NATS or
 * Postgres, a batch waits until it is recorded. Otherwise Earshot would send a request again if its attempt is not
 * recorded, or if its row stays in `pending_deliveries`.
 */
export class AttemptRecorder {
  private readonly stopping = new AbortController();
  /** The batches that are being recorded, and when each began, in ms. The oldest comes first. */
  private readonly running = new Map<readonly AttemptResult[], number>();

  constructor(
    private readonly database: Database,
    private readonly store: EventStore,
    private readonly channels: ChannelFaults,
    private readonly log: Logger,
  ) {}

  /** When the oldest batch that is still being recorded began, in ms; undefined if there is none. */
  get recordingSince(): number | undefined {
    const [since] = this.running.values();
    return since;
  }

  /** The attempts that are being recorded. */
  get unrecorded(): AttemptResult[] {
    return [...this.running.keys()].flat();
  }

  /**
   * Records the results of attempts. Waits as long as a store cannot answer.
   * @param alongside further writes of the same transaction
   * @throws Error in two cases after the recorder was closed: `alongside` is given, or an attempt has no row in
   * `pending_deliveries`. The stream must then deliver the event again
   * @throws the error of the store if the recorder is closed during an outage
   */
  async record(results: readonly AttemptResult[], alongside?: (tx: Tx) => Promise<void>): Promise<void> {
    this.running.set(results, Date.now());
    try {
      await this.recordNow(results, alongside);
    } finally {
      this.running.delete(results);
    }
  }

  private async recordNow(
    results: readonly AttemptResult[],
    alongside?: (tx: Tx) => Promise<void>,
  ): Promise<void> {
    if (this.closed && (alongside || !results.every(({ delivery }) => delivery.pending)))
      throw new Error('attempts were interrupted by the stop; they are repeated');
    if (this.closed || (results.length === 0 && !alongside)) return;
    failpoint('delivery-after-post-before-record');
    // Channels are disabled before the attempts are recorded. After a crash between the two steps, the repeated
    // attempts find that the channel is disabled.
    const changed = await this.untilStored(() => this.disableGone(results));
    const recorded = results.map((result) => ({
      ...result,
      nextAt: changed.has(result) ? result.at : nextOf(result),
    }));
    // Endpoints are paused before the rows of the next attempts are written, because the next attempts can be due
    // immediately.
    await this.untilStored(() => pauseEndpoints(this.database.manager, results));
    // The messages are made once: NATS recognises them by their ids if they are published again.
    const messages = attemptMessages(recorded, ({ attempts }) => attempts + 1);
    await this.untilStored(() => this.store.publishAll(messages));
    const disabled = await this.untilStored(() => this.follow(recorded, alongside));
    countOutcomes(recorded);
    for (const { delivery } of disabled)
      await this.untilStored(() => this.giveUpWaitingAt(delivery, DISABLED));
    await this.untilStored(() => this.disableFailing(results));
  }

  /** Records that events are not sent, and why. Otherwise users would believe that the events were delivered. */
  async giveUp(deliveries: readonly GivenUp[]): Promise<void> {
    if (deliveries.length === 0) return;
    await this.publishGivenUp(deliveries, 'unsent');
    await this.drop(
      deliveries.filter((one) => one.pending),
      false,
    );
  }

  /** Deletes the rows of deliveries whose end is recorded already. */
  async drop(deliveries: readonly Addressed[], delivered: boolean): Promise<void> {
    if (deliveries.length === 0) return;
    await this.database.transaction(async (tx) => {
      const dropped = await dropPending(tx, deliveries);
      await countReplays(
        tx,
        deliveries.filter((one) => dropped.has(keyOf(one))),
        delivered,
      );
    });
  }

  /** Makes `record` record nothing from now on, so that interrupted attempts stay pending. */
  close(): void {
    this.stopping.abort();
  }

  private get closed(): boolean {
    return this.stopping.signal.aborted;
  }

  /** Repeats a step of the record until the store that it needs answers. Repeating the step must be harmless. */
  private async untilStored<T>(step: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await step();
      } catch (error) {
        if (!isOutage(error) || this.closed) throw error;
        this.log.warn({ err: error }, 'attempts could not be recorded; Earshot tries to record them again');
        await wait(PAUSE_MS, undefined, { signal: this.stopping.signal }).catch(() => undefined);
        if (this.closed) throw error;
      }
    }
  }

  /**
   * Updates the tables. In the most frequent case there is nothing to write: the first attempt at a webhook has
   * succeeded.
   * @returns the last attempts at endpoints that are disabled now
   */
  private async follow(
    recorded: readonly Recorded[],
    alongside?: (tx: Tx) => Promise<void>,
  ): Promise<AttemptResult[]> {
    const failed = recorded.filter((one) => !one.delivered);
    const settled = recorded.filter((one) => one.nextAt === undefined);
    const pending = settled.filter(({ delivery }) => delivery.pending);
    // A destination that asks the sender to wait is not marked as failing.
    const broken = failed.filter((one) => !isPostponed(one));
    const brokenEndpoints = new Set(broken.map(({ delivery }) => addressKey(delivery)));
    const fails = (delivery: Delivery) =>
      delivery.failingSince !== undefined ||
      (brokenEndpoints.size > 0 && brokenEndpoints.has(addressKey(delivery)));
    const healed = recorded.filter((one) => one.delivered && fails(one.delivery));
    if (!alongside && failed.length + pending.length + healed.length === 0) return [];
    return this.database.transaction(async (tx) => {
      // Always locks in the order endpoints, pending deliveries, replays, so that transactions cannot deadlock.
      await markEndpoints(tx, broken, healed);
      const waiting = failed.flatMap(({ delivery, nextAt, ...one }): PendingDelivery[] => {
        if (nextAt === undefined) return [];
        // The destination accepts nothing for a time. After this time, this message is sent before messages that have
        // waited for a shorter time.
        if (isPostponed(one)) return [delivery];
        return [{ ...delivery, attempts: delivery.attempts + 1, waitMs: nextAt - Date.now() }];
      });
      await savePending(
        tx,
        waiting.filter((one) => !one.pending),
      );
      await updatePending(
        tx,
        waiting.filter((one) => one.pending),
      );
      const dropped = await dropPending(
        tx,
        pending.map(({ delivery }) => delivery),
      );
      const ended = settled.filter(({ delivery }) => !delivery.pending || dropped.has(keyOf(delivery)));
      const deliveriesOf = (delivered: boolean) =>
        ended.filter((one) => one.delivered === delivered).map(({ delivery }) => delivery);
      const disabled = await disableEndpoints(tx, failed);
      // Published before the commit, because a duplicate record does less harm than a missing record.
      await this.store.publishAll(disabled.map(disabledMessage));
      await countReplays(tx, deliveriesOf(true), true);
      await countReplays(tx, deliveriesOf(false), false);
      await alongside?.(tx);
      return disabled.map(({ last }) => last);
    });
  }

  /**
   * Disables the channels whose destination does not exist any more, and marks email addresses as refused.
   * @returns the attempts whose channel now has another destination; their messages are sent to the new destination
   */
  private async disableGone(results: readonly AttemptResult[]): Promise<ReadonlySet<AttemptResult>> {
    const changed = new Set<AttemptResult>();
    for (const result of results) {
      if (result.gone === undefined) continue;
      const { delivery, goneAddress, gone } = result;
      const reason = goneAddress === undefined ? gone : `${goneAddress}: ${gone}`;
      const outcome = await this.channels.gone(delivery, reason, result.statusCode, goneAddress);
      if (outcome === 'disabled') await this.giveUpWaitingAt(delivery, channelDisabled(reason));
      if (outcome === 'changed') changed.add(result);
    }
    return changed;
  }

  private async disableFailing(results: readonly AttemptResult[]): Promise<void> {
    const failed = results.filter((one) => !one.delivered && one.gone === undefined && !isPostponed(one));
    for (const { last, failures } of await failingChannels(this.database.manager, failed)) {
      const reason = 'only failures for 5 days';
      const isDisabled = await this.channels.failing(last.delivery, reason, failures, last.statusCode);
      if (isDisabled) await this.giveUpWaitingAt(last.delivery, channelDisabled(reason));
    }
  }

  /**
   * Gives up the deliveries that wait for an endpoint that is disabled now. It works in parts, because hundreds of
   * thousands can wait. After a crash, each remaining delivery is given up when it is due. Deliveries that are created
   * while this method runs stay, because somebody can have enabled the endpoint again.
   */
  private async giveUpWaitingAt({ accountId, endpoint, channelKind }: Addressed, why: string): Promise<void> {
    const until = new Date();
    for (let found = GIVEN_UP_TOGETHER; found === GIVEN_UP_TOGETHER && !this.closed;)
      found = await this.database.transaction(async (tx) => {
        const waiting = await dropWaitingAt(tx, accountId, endpoint, until, GIVEN_UP_TOGETHER);
        const givenUp = waiting.map((one) => ({ ...one, reason: why, channelKind }));
        await this.publishGivenUp(givenUp, 'given_up');
        await countReplays(tx, givenUp, false);
        return waiting.length;
      });
  }

  /** @param outcome `given_up` for deliveries that waited for a destination that is disabled now */
  private async publishGivenUp(
    deliveries: readonly GivenUp[],
    outcome: 'given_up' | 'unsent',
  ): Promise<void> {
    const at = Date.now();
    const nothing = { at, durationMs: 0, statusCode: 0, delivered: false, nextAt: undefined };
    await this.store.publishAll(
      attemptMessages(
        deliveries.map((delivery) => ({ ...nothing, message: delivery.reason, delivery })),
        () => 0,
      ),
    );
    metrics.deliveries.add(deliveries.length, { outcome });
  }
}

function channelDisabled(why: string): string {
  return `not sent: the channel is disabled (${why})`;
}

function countOutcomes(recorded: readonly Recorded[]): void {
  const counts = { delivered: 0, failed: 0, given_up: 0 };
  for (const { delivered, nextAt } of recorded)
    counts[delivered ? 'delivered' : nextAt === undefined ? 'given_up' : 'failed'] += 1;
  for (const [outcome, count] of Object.entries(counts)) metrics.deliveries.add(count, { outcome });
}
