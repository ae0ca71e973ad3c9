import type { DigestMode } from '#contracts';
import { derivedId, isoOf } from '#kernel';
import { lastDue, nextDue } from './digest-times.js';

/** The next digest of a keyword for one channel in one mode. Times in ms. */
export interface DigestTurn {
  keywordId: string;
  channelId: string;
  mode: DigestMode;
  accountId: string;
  timeZone: string;
  /** The end of the previous period, with or without a digest. In the first period: the time when the turn was planned. */
  periodFrom: number;
  /** Items up to this sequence of EVENTS were considered for an earlier digest. */
  afterSeq: number;
  /** The sequence of the previous digest in DIGESTS; 0 if there is none. */
  digestSeq: number;
  dueAt: number;
  /** Present if the next digest is the last one: the last sequence of EVENTS that it contains. */
  lastSeq?: number | undefined;
}

/** A digest that is due: its period, and the sequences of its items (greater than `afterSeq`, up to `cutSeq`). */
export interface DuePeriod {
  from: number;
  /** Exclusive. */
  to: number;
  cutSeq: number;
}

/**
 * Returns the period of a turn that is due. If the service was interrupted, later digests can be due too. Then the
 * period is longer, and ends at the last time at which a digest was due.
 * @param appliedSeq every event up to this sequence was stored as an item, or belongs to no digest
 */
export function duePeriod(turn: DigestTurn, appliedSeq: number, now: number): DuePeriod {
  const { mode, timeZone, periodFrom, afterSeq, dueAt, lastSeq = Infinity } = turn;
  return {
    from: periodFrom,
    to: nextDue(mode, timeZone, dueAt) > now ? dueAt : lastDue(mode, timeZone, now),
    cutSeq: Math.max(afterSeq, Math.min(appliedSeq, lastSeq)),
  };
}

/** Returns the id of the next digest of a turn. The id is the same each time the digest is assembled. */
export function digestIdOf({ keywordId, channelId, mode, periodFrom }: DigestTurn): string {
  return derivedId('digest', keywordId, channelId, mode, isoOf(periodFrom));
}

/** A digest that is stored on the turn's subject. */
export interface StoredDigest {
  /** Sequence in DIGESTS. */
  seq: number;
  periodTo: number;
  cutSeq: number;
}

/**
 * Returns the turn after a stored digest that is newer than the last digest of `turn`. Such a digest exists after a
 * crash, if another replica stored it, or if the channel was removed and added again.
 * @param stored the last digest of the subject; undefined if the stream no longer contains it
 */
export function turnAfterStored(turn: DigestTurn, stored: StoredDigest | undefined): DigestTurn {
  if (!stored) return { ...turn, digestSeq: 0 };
  const cutSeq = Math.max(turn.afterSeq, stored.cutSeq);
  // If a channel was removed and added again, the period begins when the channel was added, which is later than the
  // channel's last digest.
  const to = Math.max(turn.periodFrom, stored.periodTo);
  return { ...turnAfter(turn, { to, cutSeq }), digestSeq: stored.seq };
}

/** Returns the turn after a period, whether or not the period had a digest. */
export function turnAfter(turn: DigestTurn, { to, cutSeq }: Pick<DuePeriod, 'to' | 'cutSeq'>): DigestTurn {
  return { ...turn, periodFrom: to, afterSeq: cutSeq, dueAt: nextDue(turn.mode, turn.timeZone, to) };
}
