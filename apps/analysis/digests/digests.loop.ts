import { Inject, Injectable } from '@nestjs/common';
import PQueue from 'p-queue';
import { Repeated, systemClock } from '#kernel';
import { DATABASE, LOG, type Loop } from '#platform';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import type { DigestTurn } from '../domain/digest-turn.js';
import { SettledEvents } from '../settled.js';
import { DigestAssembly } from './digest-assembly.js';
import { agreeWithZones, claimDueTurns, saveTurns, type ClaimedTurn } from './digest-turns.js';

const LOOK_MS = 1000;
const ZONES_MS = 30_000;
const PRUNE_MS = 3_600_000;
const TURNS_AT_ONCE = 100;
const ASSEMBLED_AT_ONCE = 4;
/** One statement deletes at most this many rows, so that it locks them for a moment only. */
const ROWS_AT_ONCE = 5_000;

const OLD = [
  // A week, and an outage.
  { table: 'digest_items', column: 'occurred_at', days: 35 },
  { table: 'reports', column: 'created_at', days: 90 },
] as const;

/** Assembles the digests that are due. Every replica does: a turn belongs to one of them at a time. */
@Injectable()
export class DigestsLoop implements Loop {
  readonly name = 'digests';
  private readonly repeated: readonly Repeated[];

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly settled: SettledEvents,
    private readonly assembly: DigestAssembly,
    @Inject(LOG) private readonly log: Logger,
  ) {
    const repeat = (pauseMs: number, what: string, run: () => Promise<boolean | void>) =>
      new Repeated({ pauseMs, run, failed: (error) => log.error({ err: error }, `${what} failed`) });
    this.repeated = [
      repeat(LOOK_MS, 'assembling digests', () => this.round()),
      repeat(ZONES_MS, 'adapting digests to time zones', () =>
        agreeWithZones(database, systemClock.now().getTime()),
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

  /** @returns true if there may be more to do at once */
  async round(now = systemClock.now().getTime()): Promise<boolean> {
    const turns = await claimDueTurns(this.database, TURNS_AT_ONCE, now);
    if (turns.length === 0) return false;
    const cutOf = await this.settled.upTo(now);
    const assembled = await new PQueue({ concurrency: ASSEMBLED_AT_ONCE }).addAll(
      turns.map((turn) => () => this.assembled(turn, cutOf(workOf(turn)), now)),
    );
    await saveTurns(
      this.database,
      assembled.filter((turn) => turn !== undefined),
    );
    return turns.length === TURNS_AT_ONCE;
  }

  /** @returns the turn to store; undefined if it failed: it is claimed again when its claim has ended */
  private async assembled(
    turn: ClaimedTurn,
    cut: number | undefined,
    now: number,
  ): Promise<DigestTurn | undefined> {
    try {
      return cut === undefined ? turn : await this.assembly.assemble(turn, cut, now);
    } catch (error) {
      const { keywordId, channelId, mode } = turn;
      this.log.error(
        { err: error, keywordId, channelId, mode },
        'a digest could not be assembled; it is repeated',
      );
      return undefined;
    }
  }

  /** @returns true if there may be more to delete */
  async prune(): Promise<boolean> {
    let isMore = false;
    for (const { table, column, days } of OLD) {
      const [, deleted]: [unknown, number] = await this.database.query(
        `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM ${table} WHERE ${column} < now() - make_interval(days => $1) LIMIT $2))`,
        [days, ROWS_AT_ONCE],
      );
      isMore ||= deleted === ROWS_AT_ONCE;
    }
    return isMore;
  }
}

function workOf({ keywordId, channelId, mode }: DigestTurn): string {
  return `${keywordId} ${channelId} ${mode}`;
}
