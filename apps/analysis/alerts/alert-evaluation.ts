import { create } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { AlertFiredSchema, type AlertFired } from '#contracts';
import { derivedId, failpoint, isoOf } from '#kernel';
import { DATABASE, LOG } from '#platform';
import type { Database } from '#postgres';
import type { Logger } from '#telemetry';
import { AlertDecisions } from './alert-decisions.js';
import { keywordsOf, type AlertKeyword, type ReportUnknown } from './alert-keywords.js';
import type { AlertRule } from './alert-rules.js';
import type { AlertTurn, EvaluatedTurn } from './alert-turns.js';
import { CountedSeries } from './counted-series.js';
import { evaluateEpisode, MIN_INTERVAL_MS } from './episode.js';
import {
  findLevel,
  reachedWindows,
  type AlertHistory,
  type FindLevel,
  type ReachedWindow,
  type WindowLevel,
} from './reached-windows.js';
import { MentionHistory } from './mention-history.js';
import { BIN_MS, binOf, lengthOf, type Window } from './windows.js';

/** A window that ended longer ago than this fires no alert, because its mentions came too late. */
const MAX_WINDOW_AGE_MS = 24 * 3_600_000;
/**
 * Maximum number of thresholds in memory. A threshold is the number of mentions with which an alert fires. It is
 * kept for five minutes, or until the keyword changes: otherwise it depends only on earlier windows, whose counts rarely
 * change.
 */
const LEVELS_KEPT = 20_000;
/**
 * Maximum number of separate reads of the counts of one keyword in one evaluation. If more are needed, one read gets
 * all counts of the keyword.
 */
const SINGLE_READS = 8;
/** An alert that this release does not know is logged at most once in this time. */
const LOG_UNKNOWN_EVERY_MS = 3_600_000;
/** Maximum number of alerts for which the process remembers that it logged them. */
const UNKNOWN_KEPT = 10_000;

/** Evaluates the alerts of keywords, and records which alerts fired and which episodes ended. */
@Injectable()
export class AlertEvaluation {
  private readonly history: MentionHistory;
  private readonly levels = new LRUCache<string, WindowLevel>({ max: LEVELS_KEPT, ttl: BIN_MS });
  private readonly logged = new LRUCache<string, true>({ max: UNKNOWN_KEPT, ttl: LOG_UNKNOWN_EVERY_MS });

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly decisions: AlertDecisions,
    @Inject(LOG) private readonly log: Logger,
  ) {
    this.history = new MentionHistory(database);
  }

  /**
   * Evaluates the alerts of the keywords.
   * @param now ms
   * @returns the turns that were evaluated; the other turns are claimed again later
   */
  async evaluateTurns(turns: readonly AlertTurn[], now: number): Promise<EvaluatedTurn[]> {
    const keywords = await keywordsOf(
      this.database,
      turns.map(({ keywordId }) => keywordId),
      this.logUnknown,
    );
    const recent = await this.history.recent(
      new Map(
        turns.flatMap((turn) => {
          const { rules } = keywords.get(turn.keywordId) ?? { rules: [] };
          if (turn.changedFrom === undefined || rules.length === 0) return [];
          const longest = Math.max(...rules.map(({ condition }) => lengthOf(condition)));
          return [[turn.keywordId, sinceOf(turn, now) - longest] as const];
        }),
      ),
    );
    const evaluated: EvaluatedTurn[] = [];
    for (const turn of turns) {
      const keyword = keywords.get(turn.keywordId);
      try {
        const series = new CountedSeries(recent.get(turn.keywordId) ?? []);
        const next = keyword && (await this.evaluate(keyword, series, sinceOf(turn, now), now));
        evaluated.push({ turn, nextAt: next?.at, nextFrom: next?.from });
      } catch (error) {
        this.log.error(
          { err: error, keywordId: turn.keywordId },
          'the alerts of a keyword could not be evaluated',
        );
      }
    }
    return evaluated;
  }

  private readonly logUnknown: ReportUnknown = (keywordId, ruleId, err) => {
    const alert = `${keywordId} ${ruleId}`;
    if (this.logged.has(alert)) return;
    this.logged.set(alert, true);
    this.log.error(
      { err, keywordId, ruleId },
      'this release does not know an alert of a keyword, so the alert does not fire',
    );
  };

  /**
   * Evaluates the alerts of one keyword.
   * @returns the earliest time at which an episode can begin or end without new mentions, in ms, but at least one bin after
   * now; and the first bin of an episode that cannot begin yet. Undefined if no episode can begin or end
   */
  private async evaluate(
    keyword: AlertKeyword,
    series: CountedSeries,
    since: number,
    now: number,
  ): Promise<{ at: number; from: number | undefined } | undefined> {
    const { rules, unknown, searches, episodes } = keyword;
    const fired: AlertFired[] = [];
    const ended: string[] = [];
    const above = new Map<string, number>();
    let nextAt = Infinity;
    let nextFrom: number | undefined;
    const levelFor = this.levelsOf(keyword);
    for (const rule of rules) {
      const before = episodes.get(rule.key);
      const reached = await reachedWindows(rule, searches, series, since, levelFor);
      const result = evaluateEpisode(rule.condition, before, reached, now);
      if (result.ended && before) ended.push(before.alertId);
      if (result.fired) fired.push(await this.alertOf(keyword, rule, result.fired, now));
      if (result.waiting) {
        const firedAt = result.fired || !before ? now : before.firedAt;
        nextAt = Math.min(nextAt, firedAt + MIN_INTERVAL_MS);
        nextFrom = Math.min(nextFrom ?? Infinity, result.waiting.to - BIN_MS);
      }
      if (result.aboveUntil === undefined) continue;
      above.set(rule.key, result.aboveUntil);
      const isOpen = result.fired !== undefined || (before && !before.ended && !result.ended);
      if (isOpen) nextAt = Math.min(nextAt, result.aboveUntil + lengthOf(rule.condition));
    }
    // A newer release possibly continues the episode of an alert that this release does not know.
    const keys = new Set([...rules.map(({ key }) => key), ...unknown]);
    for (const [key, { alertId, ended: isEnded }] of episodes)
      if (!keys.has(key) && !isEnded) ended.push(alertId);
    if (fired.length + ended.length > 0) {
      await this.decisions.record(keyword, { fired, ended, at: isoOf(now) });
      failpoint('alerts-after-decision-before-turn');
    }
    await extendEpisodes(this.database, keyword.keywordId, above);
    return nextAt === Infinity ? undefined : { at: Math.max(nextAt, now + BIN_MS), from: nextFrom };
  }

  /** Returns a function that finds thresholds. The function reads the covered times of the keyword at most once. */
  private levelsOf({ keywordId, version, searches, timeZone, createdAt }: AlertKeyword): FindLevel {
    let coverage: ReturnType<MentionHistory['coverageOf']> | undefined;
    const countsIn = this.countsOf(keywordId);
    return async (rule: AlertRule, window: Window) => {
      const cacheKey = JSON.stringify([keywordId, version, rule.key, window.to, timeZone]);
      const known = this.levels.get(cacheKey);
      if (known) return known;
      coverage ??= this.history.coverageOf(keywordId);
      const level = await findLevel(rule, window, {
        searches,
        timeZone,
        createdAt,
        coverage: await coverage,
        countsIn,
      });
      // The result "too little history" is not cached, because the covered times come from another stream and can be
      // stored a moment later.
      if (level) this.levels.set(cacheKey, level);
      return level;
    };
  }

  /**
   * Returns a function that counts mentions. After a mention that is found a day late, an evaluation can examine
   * hundreds of windows. For these, one read of all counts costs less than separate reads.
   */
  private countsOf(keywordId: string): AlertHistory['countsIn'] {
    let reads = 0;
    let all: Promise<CountedSeries> | undefined;
    return async (windows, negative) => {
      reads += 1;
      if (reads <= SINGLE_READS) return this.history.countsIn(keywordId, windows, negative);
      all ??= this.history
        .recent(new Map([[keywordId, 0]]))
        .then((counts) => new CountedSeries(counts.get(keywordId) ?? []));
      return (await all).countsIn(windows, negative);
    };
  }

  private async alertOf(
    { keywordId }: AlertKeyword,
    rule: AlertRule,
    { window, to, observed, baseline, watchIds }: ReachedWindow,
    now: number,
  ): Promise<AlertFired> {
    const { key, name, condition, actions } = rule;
    const isSpike = condition.kind === 'spike';
    return create(AlertFiredSchema, {
      alertId: derivedId('alert', keywordId, key, isoOf(to)),
      key,
      kind: condition.kind,
      ruleId: isSpike ? '' : key,
      ruleName: name,
      level: isSpike ? condition.level : '',
      windowFrom: isoOf(window.from),
      windowTo: isoOf(Math.min(window.to, now)),
      observed,
      baseline,
      sampleMentionIds: await this.history.examplesOf(keywordId, rule, window, watchIds),
      suppressedUntil: isoOf(now + MIN_INTERVAL_MS),
      ...actions,
    });
  }
}

/**
 * Returns the start of the first bin that is evaluated, in ms: the bin of the earliest new mention, or the bin of 24
 * hours ago if that is later. Infinity if there is no new mention.
 */
function sinceOf({ changedFrom = Infinity }: AlertTurn, now: number): number {
  return Math.max(changedFrom, binOf(now - MAX_WINDOW_AGE_MS));
}

/** Moves `above_until` of episodes forward. */
async function extendEpisodes(
  database: Database,
  keywordId: string,
  above: ReadonlyMap<string, number>,
): Promise<void> {
  if (above.size === 0) return;
  await database.query(
    `UPDATE alert_episodes e SET above_until = GREATEST(e.above_until, n.above_until)
     FROM unnest($2::text[], $3::timestamptz[]) AS n (key, above_until)
     WHERE e.keyword_id = $1 AND e.key = n.key AND e.above_until < n.above_until`,
    [keywordId, [...above.keys()], [...above.values()].map((at) => new Date(at))],
  );
}
