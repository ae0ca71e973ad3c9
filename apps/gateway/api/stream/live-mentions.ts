import { setTimeout as wait } from 'node:timers/promises';
import { fromBinary } from '@bufbuild/protobuf';
import { JetStreamApiError, type ConsumerInfo, type StoredMsg } from '@nats-io/jetstream';
import { Inject, Injectable } from '@nestjs/common';
import type { MentionRow } from '#clickhouse';
import { EventSchema } from '#contracts';
import { getMessage, subjectOf, type Bus } from '#messaging';
import { BUS } from '#platform';
import { MENTIONS_SINK } from '#projections';
import type { MentionFilter } from '../../reads/mention-filter.js';
import { MentionReads, type LiveEvent } from '../../reads/mention-reads.js';

/** One event of the account. `row` is the mention of the event if the filter accepts this mention. */
export interface LiveMention {
  /** The sequence of the event's message on EVENTS. */
  sequence: number;
  row: MentionRow | undefined;
}

interface PendingEvent extends LiveEvent {
  sequence: number;
}

const NO_SUCH_CONSUMER = 404;
/** Number of events that are read from ClickHouse together. */
const BATCH = 100;
/**
 * The first and the longest wait between two attempts to read the rows of new events, in ms. The sink, which is the
 * consumer that writes mentions to ClickHouse, writes a single event after 200 ms. Under load it writes every half
 * second (`FEW_WRITES`).
 */
const FIRST_WAIT_MS = 20;
const MAX_WAIT_MS = 500;
/** The first and the longest wait between two searches for new events, in ms. */
const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 5000;

/**
 * Follows EVENTS for one account. A mention is returned only after `GET /v1/mentions` can return it, so the stream of
 * the client and the list agree. Filters, labels and corrections are the same as in the list.
 */
@Injectable()
export class LiveMentions {
  constructor(
    @Inject(BUS) private readonly bus: Bus,
    private readonly mentions: MentionReads,
  ) {}

  /** Returns the sequence of the newest event of all accounts. */
  async head(): Promise<number> {
    return (await this.bus.jsm.streams.info('EVENTS')).state.last_seq;
  }

  /**
   * Returns a sequence of EVENTS: all events up to this sequence are in ClickHouse. A list of mentions that is read
   * afterwards contains these events, but possibly not the later events.
   */
  async written(): Promise<number> {
    const sink = await this.sink();
    if (!sink) return this.writtenBefore(0);
    const written = sink.ack_floor.stream_seq;
    if (sink.num_pending + sink.num_ack_pending === 0) return written;
    const [next] = await this.next(subjectOf('EVENTS', '>'), written, 1);
    return next && next.time < new Date(sink.created) ? this.writtenBefore(written) : written;
  }

  /**
   * Returns the result of `written` if EVENTS can contain events that are older than the consumer of the sink. If there
   * are mentions, this consumer was deleted for a rebuild: the rows of the older events are already written, so the
   * result is the last sequence of EVENTS. If there are no mentions, the installation is new, and the result is
   * `acknowledged`.
   */
  private async writtenBefore(acknowledged: number): Promise<number> {
    return (await this.mentions.isEmpty()) ? acknowledged : this.head();
  }

  /** Returns every event of the account after `sequence`, in the order of EVENTS, until the signal aborts. */
  async *after(
    accountId: string,
    filter: MentionFilter,
    sequence: number,
    signal: AbortSignal,
  ): AsyncGenerator<LiveMention> {
    const subject = subjectOf('EVENTS', accountId, '>');
    // The gateway does not use a consumer: the right to create consumers would also let the gateway change the
    // consumers of other services.
    const published = new SearchTimer(signal);
    const subscription = this.bus.nc.subscribe(subject, { callback: () => published.set() });
    try {
      for (let from = sequence; !signal.aborted;) {
        const head = await this.head();
        const batch = await this.next(subject, from);
        yield* this.read(accountId, filter, batch, signal);
        from = batch.at(-1)?.seq ?? Math.max(from, head);
        if (batch.length === 0) await published.wait();
      }
    } finally {
      subscription.unsubscribe();
    }
  }

  /** Returns the first `max` events of the subject after `sequence`; fewer if EVENTS has no more. */
  private async next(subject: string, sequence: number, max = BATCH): Promise<StoredMsg[]> {
    const batch: StoredMsg[] = [];
    for (let after = sequence; batch.length < max;) {
      const message = await getMessage(this.bus, 'EVENTS', {
        seq: after + 1,
        next_by_subj: subject,
      });
      if (!message) break;
      batch.push(message);
      after = message.seq;
    }
    return batch;
  }

  private async *read(
    accountId: string,
    filter: MentionFilter,
    batch: readonly StoredMsg[],
    signal: AbortSignal,
  ): AsyncGenerator<LiveMention> {
    const events = batch.map((message): PendingEvent & { isMention: boolean } => {
      const { eventId, occurredAt, matched } = fromBinary(EventSchema, message.data);
      return { sequence: message.seq, eventId, occurredAt, isMention: matched?.item !== undefined };
    });
    const rows = await this.stored(
      accountId,
      filter,
      events.filter(({ isMention }) => isMention),
      signal,
    );
    for (const { sequence, eventId } of events) {
      if (signal.aborted) return;
      yield { sequence, row: rows.get(eventId) };
    }
  }

  /**
   * Returns the rows of the events, after the sink has written them. Events that the sink does not keep have no row.
   */
  private async stored(
    accountId: string,
    filter: MentionFilter,
    events: readonly PendingEvent[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, MentionRow | undefined>> {
    const rows = new Map<string, MentionRow | undefined>();
    let missing = events;
    for (let waitMs = FIRST_WAIT_MS; missing.length > 0 && !signal.aborted;) {
      const written = (await this.sink().catch(() => undefined))?.ack_floor.stream_seq ?? 0;
      for (const [id, row] of await this.mentions.live(accountId, filter, missing)) rows.set(id, row);
      // If the sink has read an event and no row exists, the mention was purged or is not kept.
      missing = missing.filter(({ eventId, sequence }) => !rows.has(eventId) && sequence > written);
      if (missing.length === 0) break;
      await wait(waitMs, undefined, { signal }).catch(() => undefined);
      waitMs = Math.min(2 * waitMs, MAX_WAIT_MS);
    }
    return rows;
  }

  /** Returns the consumer that writes mentions; undefined until the analysis service has created this consumer. */
  private async sink(): Promise<ConsumerInfo | undefined> {
    try {
      return await this.bus.jsm.consumers.info('EVENTS', MENTIONS_SINK);
    } catch (error) {
      if (error instanceof JetStreamApiError && error.status === NO_SUCH_CONSUMER) return undefined;
      throw error;
    }
  }
}

/**
 * Decides when to search for new events. After an event was published, there are a few searches with growing waits,
 * because EVENTS stores the event a moment later. Otherwise there is one search every few seconds.
 */
class SearchTimer {
  private pauseMs = MAX_PAUSE_MS;
  private wake = () => {};

  constructor(private readonly signal: AbortSignal) {
    signal.addEventListener('abort', () => this.wake(), { once: true });
  }

  set(): void {
    this.pauseMs = FIRST_PAUSE_MS;
    this.wake();
  }

  async wait(): Promise<void> {
    if (this.signal.aborted) return;
    const pauseMs = this.pauseMs;
    this.pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pauseMs);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
