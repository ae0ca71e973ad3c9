import { Inject, Injectable } from '@nestjs/common';
import PQueue from 'p-queue';
import type { DigestMode } from '#contracts';
import { Repeated, systemClock } from '#kernel';
import { DATABASE, LOG, type Loop } from '#platform';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import { duePeriod, turnAfter, type DigestTurn } from '../domain/digest-turn.js';
import { EventsProgress } from '../projection-progress.js';
import { DigestAssembly, rangeOf, type DueTurn } from './digest-assembly.js';
import { haveItems } from './digest-items.js';
import {
  claimDueTurns,
  keywordsToSync,
  postponeTurns,
  saveTurns,
  syncWithChannels,
  updateTimeZones,
} from './digest-turns.js';
import { planMissingTurns } from './missing-turns.js';

const PAUSE_MS = 1000;
const ZONES_MS = 30_000;
/** How often the loop looks for changes of channels that a crash has left undone. */
const CHANNELS_MS = 30_000;
const PRUNE_MS = 3_600_000;
/**
 * A brief or a report can take seconds, and with a language model a minute or more. So briefs and reports are claimed
 * separately, and do not delay other digests. If the work on a claimed turn has not begun after `BEGIN_WITHIN_MS`, the
 * claim is ended, and any replica can claim the turn again.
 */
const CLAIMS: readonly {
  modes: readonly DigestMode[];
  turns: number;
  groupSize: number;
  concurrency: number;
}[] = [
  // The items of a group of turns are read together, because a separate query for each digest would take longer than the
  // other work on this digest.
  { modes: ['hourly', 'daily'], turns: 250, groupSize: 25, concurrency: 2 },
  { modes: ['daily_brief'], turns: 100, groupSize: 1, concurrency: 2 },
  // Reports that wait for ClickHouse must not delay briefs.
  { modes: ['weekly_report'], turns: 100, groupSize: 1, concurrency: 2 },
];
const PLAN_MS = 10 * 60_000;
const BEGIN_WITHIN_MS = 20_000;
/** One statement deletes at most this many rows, so that it locks rows only for a moment. */
const ROWS_PER_STATEMENT = 5_000;

const OLD_ROWS = [
  // Items are kept longer than the week of a report, so that an outage of some weeks loses no items.
  { table: 'digest_items', column: 'occurred_at', days: 35 },
  { table: 'reports', column: 'created_at', days: 90 },
] as const;

/** Assembles the digests that are due. Every replica does this. Only one replica at a time has the claim of a turn. */
@Injectable()
export class DigestsLoop implements Loop {
  readonly name = 'digests';
  private readonly repeated: readonly Repeated[];

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly progress: EventsProgress,
    private readonly assembly: DigestAssembly,
    @Inject(LOG) private readonly log: Logger,
  ) {
    const repeat = (pauseMs: number, what: string, run: () => Promise<boolean | void>) =>
      new Repeated({ pauseMs, run, failed: (error) => log.error({ err: error }, `${what} failed`) });
    this.repeated = [
      ...CLAIMS.map((claim) =>
        repeat(PAUSE_MS, 'assembling digests', () =>
          this.assembleClaimed(claim, systemClock.now().getTime()),
        ),
      ),
      repeat(ZONES_MS, 'adapting digests to time zones', () =>
        updateTimeZones(database, systemClock.now().getTime()),
      ),
      repeat(PLAN_MS, 'planning missing digests', async () =>
        planMissingTurns(database, await progress.lastSeq(), systemClock.now().getTime()),
      ),
      repeat(CHANNELS_MS, 'adapting digests to channels', () =>
        this.changeChannels(systemClock.now().getTime()),
      ),
      repeat(PRUNE_MS, 'deleting old items of digests', () => this.prune()),
    ];
  }

  start(): void {
    for (const one of this.repeated) one.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.repeated.map((one) => one.stop()));
  }

  /** Assembles some of the due digests of each kind. @returns true if more digests can be due already */
  async round(now = systemClock.now().getTime()): Promise<boolean> {
    const more = await Promise.all(CLAIMS.map((claim) => this.assembleClaimed(claim, now)));
    return more.includes(true);
  }

  private async assembleClaimed(
    { modes, turns: max, groupSize, concurrency }: (typeof CLAIMS)[number],
    now: number,
  ): Promise<boolean> {
    const turns = await claimDueTurns(this.database, modes, max, now);
    if (turns.length === 0) return false;
    const cutOf = await this.progress.upTo(now);
    const hasFigures = turns.some(({ mode }) => mode === 'weekly_report');
    const mentionsOf = hasFigures ? await this.progress.mentions.upTo(now) : undefined;
    const cuts = turns.map((turn) => {
      const appliedSeq = cutOf(workOf(turn));
      if (appliedSeq === undefined || turn.mode !== 'weekly_report') return { turn, appliedSeq };
      // The progress of the mentions is requested only after the items are stored. Its result ends the long wait of the
      // turn; if the turn was then postponed, its next request would begin the long wait again.
      return { turn, appliedSeq: mentionsOf?.(workOf(turn)) === undefined ? undefined : appliedSeq };
    });
    const postponed = cuts.flatMap(({ turn, appliedSeq }) => (appliedSeq === undefined ? [turn] : []));
    const due = cuts.filter((one): one is DueTurn => one.appliedSeq !== undefined);
    // Most turns have no items. These need no assembly.
    const hasItems = await haveItems(
      this.database,
      due.map(({ turn, appliedSeq }) => rangeOf(turn, duePeriod(turn, appliedSeq, now))),
    );
    const empty = due.filter((_, n) => !hasItems[n]);
    const groups = groupsOf(
      due.filter((_, n) => hasItems[n]),
      groupSize,
    );
    const beginBy = Date.now() + BEGIN_WITHIN_MS;
    const assembled = await new PQueue({ concurrency }).addAll(
      groups.map((group) => async () => {
        if (Date.now() <= beginBy) return this.assembleGroup(group, now);
        postponed.push(...group.map(({ turn }) => turn));
        return [];
      }),
    );
    await postponeTurns(this.database, postponed, now);
    await saveTurns(this.database, [
      ...empty.map(({ turn, appliedSeq }) => turnAfter(turn, duePeriod(turn, appliedSeq, now))),
      ...assembled.flat(),
    ]);
    await this.changeChannels(
      now,
      turns.map(({ keywordId }) => keywordId),
    );
    // If every claimed turn was postponed, the loop pauses. Otherwise it would claim the same turns again immediately.
    return turns.length === max && due.length > 0;
  }

  /** Makes the changes of channels that waited for the result of a claim. */
  private async changeChannels(now: number, among?: readonly string[]): Promise<void> {
    const keywordIds = await keywordsToSync(this.database, among);
    if (keywordIds.length > 0)
      await syncWithChannels(this.database, keywordIds, await this.progress.lastSeq(), now);
  }

  /**
   * Assembles the digests of a group.
   * @returns the turns to store. A failed turn is left out: it is claimed again after its claim has ended
   */
  private async assembleGroup(group: readonly DueTurn[], now: number): Promise<DigestTurn[]> {
    const failed = (error: unknown, { keywordId, channelId, mode }: DigestTurn) =>
      this.log.error(
        { err: error, keywordId, channelId, mode },
        'a digest could not be assembled; the assembly is retried',
      );
    try {
      const results = await this.assembly.assemble(group, now);
      return results.flatMap((one, n) => {
        if (one.status === 'fulfilled') return [one.value];
        failed(one.reason, group[n]!.turn);
        return [];
      });
    } catch (error) {
      for (const { turn } of group) failed(error, turn);
      return [];
    }
  }

  /** Deletes old rows. @returns true if there can be more rows to delete */
  async prune(): Promise<boolean> {
    let hasMore = false;
    for (const { table, column, days } of OLD_ROWS) {
      const [, deleted]: [unknown, number] = await this.database.query(
        `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM ${table} WHERE ${column} < now() - make_interval(days => $1) LIMIT $2))`,
        [days, ROWS_PER_STATEMENT],
      );
      hasMore ||= deleted === ROWS_PER_STATEMENT;
    }
    return hasMore;
  }
}

function workOf({ keywordId, channelId, mode }: DigestTurn): string {
  return `${keywordId} ${channelId} ${mode}`;
}

function groupsOf<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size));
}
