import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { forAllCallers } from '#clickhouse';
import { Refusal } from '#kernel';
import { Cursors } from '../../http/cursor.js';
import { LiveMentions } from './live-mentions.js';

/**
 * In ms. All lists use the same position for this time, so that most lists need no request to NATS. A position that is
 * too old only makes the stream repeat some mentions.
 */
const SHARED_MS = 250;
/** A list waits at most this time for its position, so that lists can be read while NATS does not answer. */
const MAX_WAIT_MS = 300;

interface Position {
  sequence: number;
}

/**
 * Converts positions in EVENTS to values of `Last-Event-ID`, the form that clients get, and back. A stream continues
 * after the position that the client sends.
 */
@Injectable()
export class StreamPositions {
  private shared: { readAt: number; sequence: Promise<number | undefined> } | undefined;

  constructor(
    private readonly cursors: Cursors,
    private readonly live: LiveMentions,
  ) {}

  idOf(accountId: string, sequence: number): string {
    return this.cursors.write(scopeOf(accountId), { sequence } satisfies Position);
  }

  /** @throws Refusal `invalid` */
  sequenceOf(accountId: string, lastEventId: string): number {
    try {
      return this.cursors.read<Position>(scopeOf(accountId), lastEventId).sequence;
    } catch {
      throw Refusal.validation([
        {
          path: 'Last-Event-ID',
          message:
            'is not the id of an event of this account’s stream; repeat the request without this header',
        },
      ]);
    }
  }

  /**
   * Returns the position for a list that is read afterwards. A stream that continues from this position sends every
   * mention that the list does not contain yet. Undefined if NATS does not answer in time.
   */
  async beforeList(accountId: string): Promise<string | undefined> {
    const ended = new AbortController();
    const sequence = await Promise.race([
      this.writtenLately(),
      wait(MAX_WAIT_MS, undefined, { signal: ended.signal }).catch(() => undefined),
    ]);
    ended.abort();
    return sequence === undefined ? undefined : this.idOf(accountId, sequence);
  }

  private writtenLately(): Promise<number | undefined> {
    if (!this.shared || performance.now() - this.shared.readAt > SHARED_MS)
      this.shared = {
        readAt: performance.now(),
        sequence: forAllCallers(() => this.live.written()).catch(() => undefined),
      };
    return this.shared.sequence;
  }
}

const scopeOf = (accountId: string) => ({ list: 'stream', accountId });
