import type { Covered } from '../domain/coverage.js';
import type { AlertCondition, AlertRule } from './alert-rules.js';
import type { CountedSeries } from './counted-series.js';
import { MIN_SPIKE_MENTIONS, levelOf } from './level.js';
import { baselinesOf, BIN_MS, isKnown, windowOf, type Window } from './windows.js';

/** After this number of windows, other work of the process can run. */
const BINS_IN_A_ROW = 50;

/** A search of a keyword. */
export interface KeywordSearch {
  watchId: string;
  source: string;
}

/** The stored data about a keyword's mentions. Thresholds are computed from this data. */
export interface AlertHistory {
  /** The current searches of the keyword; mentions of other searches are not counted. */
  searches: readonly KeywordSearch[];
  /** When the keyword was created, in ms. */
  createdAt: number;
  /** The periods whose items each present or earlier search has read completely, the earliest first. */
  coverage: ReadonlyMap<string, readonly Covered[]>;
  /** IANA zone of the account. */
  timeZone: string;
  /**
   * Returns the number of mentions in each window, by search. A search without mentions in a window is absent or has 0.
   */
  countsIn(windows: readonly Window[], negative: boolean): Promise<ReadonlyMap<string, number>[]>;
}

/** What a window is compared with: the expected number of mentions, and the number with which the rule fires. */
export interface WindowLevel {
  /** The number of mentions that is expected. */
  baseline: number;
  /** The smallest number of mentions with which the rule fires. */
  threshold: number;
  /**
   * The searches whose mentions are counted: searches with a history, or all searches if the rule has no earlier
   * windows.
   */
  watchIds: string[];
}

/** A window that reached its threshold. */
export interface ReachedWindow extends WindowLevel {
  window: Window;
  /** The end of the window, in ms. */
  to: number;
  observed: number;
}

/** Finds the threshold of a window; undefined if there is not enough history. */
export type FindLevel = (rule: AlertRule, window: Window) => Promise<WindowLevel | undefined>;

/** Returns whether a condition counts only negative mentions. */
export function countsNegative({ kind }: AlertCondition): boolean {
  return kind === 'sentiment_shift';
}

/** Returns the searches of the rule's source, or all searches if the rule names no source. */
export function searchesOf({ source }: AlertRule, searches: readonly KeywordSearch[]): KeywordSearch[] {
  return searches.filter((search) => source === null || search.source === source);
}

/** Computes the threshold of a window from the history before the window. Undefined if there is not enough history. */
export async function findLevel(
  rule: AlertRule,
  window: Window,
  history: AlertHistory,
): Promise<WindowLevel | undefined> {
  const { condition } = rule;
  const searches = searchesOf(rule, history.searches).map(({ watchId }) => ({
    watchId,
    covered: history.coverage.get(watchId) ?? [],
  }));
  const firsts = [...history.coverage.values()].flatMap(([first]) => (first ? [first.from] : []));
  if (firsts.length === 0) return undefined;
  const starts = searches.flatMap(({ covered: [first] }) => (first ? [first.from] : []));
  // An old keyword can have only new searches for a rule: they were added, or replaced others whose criteria changed.
  // Then the earlier windows are unknown, not absent. What a first scan found from before the keyword was created is
  // history only for its own search.
  const keywordBegan = Math.max(history.createdAt, Math.min(...firsts));
  const began = { first: Math.min(keywordBegan, ...starts), last: Math.max(...starts) };
  for (const { windows, needed } of baselinesOf(condition, window, began, history.timeZone)) {
    const counts = windows.length > 0 ? await history.countsIn(windows, countsNegative(condition)) : [];
    const known = windows.map((one, n) =>
      searches.map(({ watchId, covered }) =>
        isKnown(one, covered) ? (counts[n]?.get(watchId) ?? 0) : undefined,
      ),
    );
    const level = levelOf(condition, known, needed, searches.length);
    if (level) return { ...level, watchIds: level.searches.map((n) => searches[n]!.watchId) };
  }
  return undefined;
}

/**
 * Returns the windows of a rule that reach their threshold, the earliest first. Examines only windows whose last bin
 * (five minutes) has a mention: every other window has at most as many mentions as one of these.
 * @param since ms; a window is examined only if its last bin begins at this time or later
 */
export async function reachedWindows(
  rule: AlertRule,
  searches: readonly KeywordSearch[],
  series: CountedSeries,
  since: number,
  levelFor: FindLevel,
): Promise<ReachedWindow[]> {
  const { condition } = rule;
  const negative = countsNegative(condition);
  const all = searchesOf(rule, searches).map(({ watchId }) => watchId);
  const minCount = condition.kind === 'spike' ? MIN_SPIKE_MENTIONS : condition.min;
  const reached: ReachedWindow[] = [];
  let examined = 0;
  for (const bin of series.binsSince(since, all)) {
    examined += 1;
    // A backtest examines tens of thousands of windows in memory, without waiting for any store.
    if (examined % BINS_IN_A_ROW === 0) await new Promise(setImmediate);
    const to = bin + BIN_MS;
    const window = windowOf(condition, to);
    // Most windows have too few mentions for any baseline. The comparison with `minCount` is cheaper than computing the
    // baseline.
    if (series.count(window, negative, all) < minCount) continue;
    const level = await levelFor(rule, window);
    if (!level) continue;
    const observed = series.count(window, negative, level.watchIds);
    if (observed >= level.threshold) reached.push({ ...level, window, to, observed });
  }
  return reached;
}
