import { setTimeout as wait } from 'node:timers/promises';
import {
  DeliverPolicy,
  JetStreamApiError,
  type JetStreamPublishOptions,
  type PubAck,
  type StoredMsg,
} from '@nats-io/jetstream';
import { headers as natsHeaders } from '@nats-io/nats-core';
import { Outage } from '#kernel';
import { getMessage, streamOf, type Bus, type MessageQuery, type StreamName } from '#messaging';
import { currentTraceparent, inSpan, SpanKind } from '#telemetry';
import { fetchSubject, incomplete, type Stored } from './fetch-subject.js';
import { publishWindow, WRONG_LAST_SEQUENCE, type Unstored } from './publish-window.js';
import { publishAttributes, PublishSpans } from './publish-spans.js';

const DEFAULT_MAX_PAYLOAD = 1024 * 1024;
const HEADER_BYTES = 4096;
const PUBLISH_ATTEMPTS = 3;
const PUBLISH_PAUSE_MS = 250;
/** The maximum difference between the clocks of two machines, in ms. */
const CLOCKS_APART_MS = 60_000;
/** Number of messages that `read` reads one by one. It fetches the others together, in a fifth of the time. */
const READ_ALONE = 100;

/**
 * Another writer appended to the subject first, or the message id was stored before. Load the messages of the subject
 * and decide again.
 */
export class AppendConflict extends Error {
  override readonly name = 'AppendConflict';
}

/** Appends facts to streams and reads one subject back, oldest first. */
export class EventStore {
  constructor(private readonly bus: Bus) {}

  /** Maximum size of a message's data in bytes: the server's limit, minus 4 KiB for the headers. */
  get maxBytes(): number {
    return (this.bus.nc.info?.max_payload ?? DEFAULT_MAX_PAYLOAD) - HEADER_BYTES;
  }

  /**
   * Appends one message on the condition that the subject's last sequence is `expectedSeq` (0: no message yet).
   * @returns the message's sequence in the stream
   * @throws AppendConflict if the condition does not hold, or if the same message id was stored before; the error of
   *   NATS if the result is unknown or the server refused the message
   */
  async append(subject: string, data: Uint8Array, expectedSeq: number, msgId: string): Promise<number> {
    try {
      // Every server since 2.8 respects `lastSubjectSequence`. Its variant with a separate subject does not work on
      // 2.9: that version accepts a stale write. So only the exact subject is used.
      const expect = { lastSubjectSequence: expectedSeq };
      const ack = await this.send(subject, data, { msgID: msgId, expect });
      if (ack.duplicate) throw new AppendConflict(`${subject}: message ${msgId} is stored already`);
      return ack.seq;
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === WRONG_LAST_SEQUENCE)
        throw new AppendConflict(`${subject}: not at ${expectedSeq}`);
      throw error;
    }
  }

  /**
   * Appends without a condition. A message id that is repeated within the stream's window for duplicates changes
   * nothing.
   * @throws the error of NATS if the result is unknown or the server refused the message
   */
  async publish(subject: string, data: Uint8Array, msgId: string): Promise<void> {
    await this.send(subject, data, { msgID: msgId });
  }

  /**
   * Publishes many messages of one stream in one call, with one inbox for all replies of the server: a separate request
   * for each message takes several times as long. Unanswered messages are sent again. Their message ids make this
   * harmless.
   * @throws Outage if the server did not answer for a message or cannot store anything now, Error if it refused a
   *   message
   */
  async publishAll(messages: readonly Unstored[]): Promise<void> {
    await this.storeAll(messages);
  }

  /**
   * Appends messages of many subjects of one stream in one call, each under its own condition.
   * @returns the messages that were refused because the condition does not hold, or because their ids were stored
   *   before. This call itself can have stored such a message, if the answer was lost and the message was sent again
   * @throws Outage if the server did not answer for a message or cannot store anything now, Error if it refused a
   *   message
   */
  appendAll<T extends Unstored & { expectedSeq: number }>(messages: readonly T[]): Promise<Set<T>> {
    return this.storeAll(messages);
  }

  private async storeAll<T extends Unstored>(messages: readonly T[]): Promise<Set<T>> {
    const spans = new PublishSpans(messages);
    try {
      const conflicting = await this.publishUntilStored(messages, spans);
      spans.end();
      return conflicting;
    } catch (error) {
      spans.end(error);
      throw error;
    }
  }

  private async publishUntilStored<T extends Unstored>(
    messages: readonly T[],
    spans: PublishSpans,
  ): Promise<Set<T>> {
    const conflicts = new Set<T>();
    let open = messages;
    for (let attempt = 1; open.length > 0; attempt += 1) {
      const { unanswered, conflicting, fault, refused } = await publishWindow(this.bus, open, (message) =>
        spans.stepOf(message),
      );
      for (const one of conflicting) conflicts.add(one);
      if (unanswered.length > 0 && attempt === PUBLISH_ATTEMPTS)
        throw refused
          ? new Error(`${unanswered.length} messages were not stored: ${fault}`)
          : new Outage('NATS', `${unanswered.length} messages were not stored: ${fault}`);
      if (unanswered.length > 0) await wait(PUBLISH_PAUSE_MS);
      open = unanswered;
    }
    return conflicts;
  }

  /** Returns the sequence of the subject's last message; 0 if it has none. */
  async lastSeq(stream: StreamName, subject: string): Promise<number> {
    const last = await this.get(stream, { last_by_subj: subject });
    return last?.seq ?? 0;
  }

  /** Returns the messages of one subject with a sequence above `afterSeq`, oldest first. */
  async read(stream: StreamName, subject: string, afterSeq = 0): Promise<Stored[]> {
    const last = await this.lastSeq(stream, subject);
    const found: Stored[] = [];
    let seq = afterSeq;
    for (let n = 0; seq < last; n += 1) {
      if (n === READ_ALONE) {
        // A fetch can fail, and always fails in the gateway, which has no right to fetch. In a cluster, the server that
        // answers can lack the last messages. In both cases, this loop reads the remaining messages one by one.
        const start = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: seq + 1 };
        const fetched = fetchSubject(this.bus, { stream, subject, start, last }, (one) => found.push(one));
        await fetched.catch(() => undefined);
        seq = found.at(-1)?.seq ?? seq;
        continue;
      }
      const next = await this.get(stream, { seq: seq + 1, next_by_subj: subject });
      if (!next) break;
      found.push({ seq: next.seq, data: next.data, subject: next.subject });
      seq = next.seq;
    }
    return found;
  }

  /**
   * Reads the messages of one subject that the server has stored at or after an instant, oldest first, and those of the
   * minute before. The duration of the call grows with the number of messages that the whole stream has stored since then.
   * @param since by the clock of another process or server, which can be up to a minute ahead
   * @param pick returns what the caller needs of a message, so that the messages themselves do not stay in memory
   * @throws Outage if the server stops delivering messages before the last one
   */
  async readSince<T>(
    stream: StreamName,
    subject: string,
    since: Date,
    pick: (message: Stored) => T,
  ): Promise<T[]> {
    const from = new Date(Math.max(0, since.getTime() - CLOCKS_APART_MS));
    const last = await this.get(stream, { last_by_subj: subject });
    if (!last || last.time < from) return [];
    const found: T[] = [];
    const start = { deliver_policy: DeliverPolicy.StartTime, opt_start_time: from.toISOString() };
    const asked = { stream, subject, start, last: last.seq };
    const lastRead = await fetchSubject(this.bus, asked, (one) => found.push(pick(one)));
    // In a cluster, a server that lacks the last messages can answer the fetches.
    if (lastRead < last.seq && (await this.at(stream, last.seq))) throw incomplete(subject);
    return found;
  }

  /**
   * Deletes every message of a subject (wildcards allowed), one by one, and overwrites its bytes. `streams.purge` with
   * a filter would be one call. But nats-server 2.9.10 then drops the pending and retried messages of every
   * consumer whose own filter matches more subjects: 94 of 96 messages in one measurement, without a log line. It also
   * leaves the bytes on the disk.
   * @param before only messages with a smaller sequence are deleted; default: all
   */
  async erase(stream: StreamName, subject: string, before = Infinity): Promise<void> {
    for (let seq = 1; ;) {
      const message = await this.get(stream, { seq, next_by_subj: subject });
      if (!message || message.seq >= before) return;
      await this.bus.jsm.streams.deleteMessage(stream, message.seq, true);
      seq = message.seq + 1;
    }
  }

  /** Returns the message at a sequence of the stream; undefined if the stream has no such message (any more). */
  async at(stream: StreamName, seq: number): Promise<Stored | undefined> {
    const found = await this.get(stream, { seq });
    return found ? { seq: found.seq, data: found.data, subject: found.subject } : undefined;
  }

  private send(
    subject: string,
    data: Uint8Array,
    options: Partial<JetStreamPublishOptions>,
  ): Promise<PubAck> {
    const stream = streamOf(subject);
    return inSpan(`publish ${stream}`, SpanKind.PRODUCER, publishAttributes(stream), () => {
      const headers = natsHeaders();
      const traceparent = currentTraceparent();
      if (traceparent !== undefined) headers.set('traceparent', traceparent);
      return this.bus.js.publish(subject, data, { ...options, headers });
    });
  }

  private get(stream: StreamName, query: MessageQuery): Promise<StoredMsg | null> {
    return getMessage(this.bus, stream, query);
  }
}

/**
 * Reads the sequence of the previous message of the same subject from the headers of a stored message.
 * @returns 0 for the first message of a subject; undefined for a message that was appended without a condition
 */
export function predecessorOf(headers: { get(name: string): string } | undefined): number | undefined {
  const text = headers?.get('Nats-Expected-Last-Subject-Sequence');
  return text ? Number(text) : undefined;
}
