import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import {
  DigestAssembledSchema,
  RunAnalysisSchema,
  type Digest,
  type DigestAssembled,
  type DigestSummary,
  type WeeklyReport,
} from '#contracts';
import { AppendConflict, type EventStore } from '#event-store';
import { failpoint, isoOf, Outage } from '#kernel';
import { subjectOf } from '#messaging';
import { DATABASE, LOG, STORE } from '#platform';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import { AnalysisWork } from '../analyses/analysis-work.js';
import { digestOf, type WaitingItem } from '../domain/digest-content.js';
import {
  digestIdOf,
  duePeriod,
  turnAfter,
  turnAfterStored,
  type DigestTurn,
  type DuePeriod,
} from '../domain/digest-turn.js';
import { knownWatches } from '../readmodels/check-sink.js';
import { digestItems, type DigestItems, type ItemRange } from './digest-items.js';
import { stillWanted, type ClaimedTurn } from './digest-turns.js';
import { WeeklyFigures } from './weekly-figures.js';

/**
 * Maximum number of items that a summary uses: first VIPs and mentions to reply to, then the newest. The limit keeps
 * the assembly of a digest short.
 */
const SUMMARISED_ITEMS = 20;

/**
 * A turn (the next digest of a keyword for one channel and mode) that is due, and the sequence up to which all items
 * are stored.
 */
export interface DueTurn {
  turn: ClaimedTurn;
  appliedSeq: number;
}

/**
 * Assembles digests. A digest is one fact. It is appended only if its subject has no message after the previous digest.
 * So after a crash, or if another replica was faster, the stored digest is used.
 */
@Injectable()
export class DigestAssembly {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
    private readonly work: AnalysisWork,
    private readonly figures: WeeklyFigures,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /**
   * Assembles the digests of turns that are due. A turn without items gets no digest.
   * @param now ms
   * @returns one result for each due turn: its next turn, or the error
   */
  async assemble(due: readonly DueTurn[], now: number): Promise<PromiseSettledResult<DigestTurn>[]> {
    const planned = due.map(({ turn, appliedSeq }) => ({ turn, period: duePeriod(turn, appliedSeq, now) }));
    const items = await digestItems(
      this.database,
      planned.map(({ turn, period }) => rangeOf(turn, period)),
    );
    const facts = await Promise.allSettled(
      planned.map(({ turn, period }, n) => this.factOf(turn, period, items[n]!, now)),
    );
    // Assembling can take more than a minute. If the keyword is purged or the channel loses the mode meanwhile, no digest
    // is stored.
    const wanted = await stillWanted(
      this.database,
      planned.map(({ turn }) => turn),
    );
    const after = await Promise.allSettled(
      planned.map(async ({ turn, period }, n) => {
        if (!wanted.has(turn)) return this.endOf(turn);
        const fact = valueOf(facts[n]!);
        return fact ? this.append(turn, period, fact) : turnAfter(turn, period);
      }),
    );
    failpoint('digests-after-append-before-turn');
    // A purge deletes the digests of a keyword twice. Both deletions can have happened between the query above and the
    // append, so the digests of keywords that no longer exist are deleted here.
    const remaining = await this.existing(planned);
    for (const { turn } of planned)
      if (!remaining.has(turn.keywordId)) await this.store.erase('DIGESTS', digestSubject(turn));
    return after;
  }

  /** Returns the fact of one digest; undefined if there are no items. */
  private async factOf(
    turn: ClaimedTurn,
    period: DuePeriod,
    { shown, total, mentionIds }: DigestItems,
    now: number,
  ): Promise<DigestAssembled | undefined> {
    if (total === 0) return undefined;
    const digest = await this.digestOf(turn, period, shown, total);
    return create(DigestAssembledSchema, {
      digestId: digestIdOf(turn),
      accountId: turn.accountId,
      keywordId: turn.keywordId,
      channelId: turn.channelId,
      mode: turn.mode,
      assembledAt: isoOf(now),
      periodFrom: isoOf(period.from),
      periodTo: isoOf(period.to),
      afterSequence: BigInt(turn.afterSeq),
      cutSequence: BigInt(period.cutSeq),
      mentionIds,
      body: new TextEncoder().encode(JSON.stringify(digest)),
      reportUrl: digest.report?.url ?? '',
    });
  }

  private async append(turn: DigestTurn, period: DuePeriod, fact: DigestAssembled): Promise<DigestTurn> {
    const subject = digestSubject(turn);
    try {
      const data = toBinary(DigestAssembledSchema, fact);
      const digestSeq = await this.store.append(subject, data, turn.digestSeq, fact.digestId);
      return { ...turnAfter(turn, period), digestSeq };
    } catch (error) {
      if (!(error instanceof AppendConflict)) throw error;
      return this.continueAfterStored(turn, subject);
    }
  }

  private existing(planned: readonly { turn: DigestTurn }[]): Promise<ReadonlySet<string>> {
    return knownWatches(
      this.database,
      planned.map(({ turn }) => turn.keywordId),
    );
  }

  /**
   * Continues after a stored digest that is newer than the turn's last digest. Another replica has stored the digest, or
   * this replica before a crash, or the channel got it before the channel was removed and added again.
   */
  private async continueAfterStored(turn: DigestTurn, subject: string): Promise<DigestTurn> {
    const seq = await this.store.lastSeq('DIGESTS', subject);
    const message = seq > 0 ? await this.store.at('DIGESTS', seq) : undefined;
    const fact = message && fromBinary(DigestAssembledSchema, message.data);
    return turnAfterStored(
      turn,
      fact && { seq, periodTo: Date.parse(fact.periodTo), cutSeq: Number(fact.cutSequence) },
    );
  }

  /**
   * Returns a turn that gets no more digests, after its last stored digest. If the mode of the channel has changed, the
   * new mode begins there.
   */
  private async endOf(turn: DigestTurn): Promise<DigestTurn> {
    const subject = digestSubject(turn);
    const hasNewer = (await this.store.lastSeq('DIGESTS', subject)) > turn.digestSeq;
    return hasNewer ? this.continueAfterStored(turn, subject) : turn;
  }

  private async digestOf(
    turn: ClaimedTurn,
    period: DuePeriod,
    shown: readonly WaitingItem[],
    total: number,
  ): Promise<Digest> {
    const { keywordId, keywordName, channelId, mode, timeZone } = turn;
    const summary = mode === 'daily_brief' ? await this.summaryOf(shown) : null;
    const report: WeeklyReport | null = mode === 'weekly_report' ? await this.figures.of(turn, period) : null;
    const head = {
      id: digestIdOf(turn),
      ...{ mode, channelId, summary, report },
      keyword: { id: keywordId, name: keywordName },
      period: { from: isoOf(period.from), to: isoOf(period.to) },
      timezone: timeZone,
    };
    return digestOf(head, shown, total);
  }

  /**
   * Summarises the items. If a store is down, the assembly of the digest fails, and is retried later. After any other
   * error, for example of the embeddings server, the digest is stored without a summary.
   */
  private async summaryOf(shown: readonly WaitingItem[]): Promise<DigestSummary | null> {
    const mentions = shown.slice(0, SUMMARISED_ITEMS).map(({ item, own }) => ({
      id: item.mentionId,
      source: item.source,
      kind: item.kind,
      title: item.title,
      text: own,
      author: item.author ?? '',
      community: item.community ?? '',
      own,
    }));
    try {
      const command = create(RunAnalysisSchema, { operation: 'summarise' });
      const { summary } = await this.work.run(command, mentions);
      return summary && summary.sentences.length > 0
        ? { sentences: summary.sentences, reader: summary.reader }
        : null;
    } catch (error) {
      if (error instanceof Outage) throw error;
      this.log.warn({ err: error }, 'a daily brief has no summary');
      return null;
    }
  }
}

/** Returns the range of EVENTS that contains the items of a turn. */
export function rangeOf({ keywordId, afterSeq }: DigestTurn, { cutSeq }: DuePeriod): ItemRange {
  return { keywordId, afterSeq, cutSeq };
}

/** Returns the subject of the digests of a turn. */
export function digestSubject({ accountId, keywordId, channelId, mode }: DigestTurn): string {
  return subjectOf('DIGESTS', accountId, keywordId, channelId, mode);
}

function valueOf<T>(settled: PromiseSettledResult<T>): T {
  if (settled.status === 'rejected') throw settled.reason;
  return settled.value;
}
