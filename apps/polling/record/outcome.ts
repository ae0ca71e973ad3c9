import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MatchMode } from '#contracts';
import type { Clock } from '#kernel';
import { compile, searchTermsOf } from '#matching';
import type { Database } from '#postgres';
import type { SourceConnector, SourceItem } from '#sources';
import type { Logger } from '#telemetry';
import { waitAfter } from '../domain/backoff.js';
import type { Lane } from '../lanes/lane.js';
import { completedCheck, failedCheck } from './build-checks.js';
import type { MatchedSourceItem } from './new-items.js';
import { unitsOf, type CheckPrice } from '../read/check-price.js';
import { failedMemory, type WatchChecks } from './check-recorder.js';
import type { DueSearch, DueWatch, SearchMemory } from '../due/due-work.js';
import type { Answer, AnsweredSearches } from '../read/read-upstream.js';
import { seenItemsOf } from './seen-items.js';

/** Matching pauses after each period of this length, so that other work of the process gets a turn. */
const SLICE_MS = 20;

/** The results of a read for its watches. */
export interface Outcome {
  checks: WatchChecks[];
  /** The watches whose checks cost credits. */
  charged: DueWatch[];
  memories: SearchMemory[];
}

/** The lane that was read, and the services that `outcomeOf` uses. */
interface Work {
  lane: Lane;
  database: Database;
  clock: Clock;
  log: Logger;
}

/**
 * Turns the results of a read into the checks of the watches. A search that was not read, because its lane waits or
 * stops, gets no check.
 * @param prices the reserved price of each watch's check, by watch id
 */
export async function outcomeOf(
  { searches, answers, remembers }: AnsweredSearches,
  prices: ReadonlyMap<string, CheckPrice>,
  { lane, database, clock, log }: Work,
): Promise<Outcome> {
  const finishedAt = clock.now();
  const checks: WatchChecks[] = [];
  const charged: DueWatch[] = [];
  const memories: SearchMemory[] = [];
  const matched = await matchAll(searches, answers, lane.connector);
  const seen = await seenItemsOf(database, searches, matched);
  for (const search of searches) {
    const answer = answers.get(search.searchKey);
    if (answer?.kind === 'read') {
      const found = matched.get(search.searchKey) ?? [];
      for (const watch of search.watches) {
        const price = prices.get(watch.watchId);
        if (!price) throw new Error(`nothing was reserved for watch ${watch.watchId}`);
        const check = { search, watch, price, matchMode: usedModeOf(search, lane.connector) };
        if (unitsOf(price, answer.fetched) > 0) charged.push(watch);
        checks.push({
          search,
          watch,
          parts: () => completedCheck(check, answer, found, seen(watch.watchId), finishedAt),
        });
      }
      memories.push({
        searchKey: search.searchKey,
        state: answer.state,
        stateAt: answer.readAt,
        failures: 0,
      });
    } else if (answer?.kind === 'failed') {
      const { error, at, laneUntil } = answer;
      const failures = search.failures + 1;
      const retryAt =
        laneUntil ??
        new Date(at.getTime() + waitAfter(error.kind, failures, error.retryAfterMs, Math.random()));
      log.warn({ lane: lane.name, kind: error.kind, retryAt }, error.message);
      for (const watch of search.watches)
        checks.push({
          search,
          watch,
          parts: () => [failedCheck(search, watch, error, retryAt, finishedAt)],
          notBefore: retryAt.getTime(),
        });
      memories.push(failedMemory(search));
    }
  }
  return { checks, charged, memories: remembers ? memories : [] };
}

/**
 * Returns the mode in which the items of a search are matched. The mode is `platform` if the connector returns only
 * matching items. If the source has no search, `platform` becomes `word`.
 */
function usedModeOf({ match }: DueSearch, { hasSearch, matchesUpstream }: SourceConnector): MatchMode {
  if (matchesUpstream) return 'platform';
  return match === 'platform' && !hasSearch ? 'word' : match;
}

/**
 * Returns the matching items of each search. One pass over each item matches it against all searches of the read. If
 * the connector returns only matching items, all items of a search count as matching.
 */
async function matchAll(
  searches: readonly DueSearch[],
  answers: ReadonlyMap<string, Answer>,
  connector: SourceConnector,
): Promise<Map<string, MatchedSourceItem[]>> {
  const matched = new Map<string, MatchedSourceItem[]>();
  if (connector.matchesUpstream) {
    for (const [key, answer] of answers)
      if (answer.kind === 'read')
        matched.set(
          key,
          answer.fetched.items.map((item) => ({ item, matches: [] })),
        );
    return matched;
  }
  const matcher = compile(
    searches.map((search) => ({
      ...searchTermsOf(search.searchKey, search.criteria),
      mode: usedModeOf(search, connector),
    })),
  );
  const items = new Map<string, SourceItem>();
  for (const answer of answers.values())
    if (answer.kind === 'read') for (const item of answer.fetched.items) items.set(item.itemId, item);
  let pauseAt = performance.now() + SLICE_MS;
  for (const item of items.values()) {
    for (const { key, matches } of matcher.match(item)) {
      const found = matched.get(key);
      if (found) found.push({ item, matches });
      else matched.set(key, [{ item, matches }]);
    }
    if (performance.now() < pauseAt) continue;
    await nextTurn();
    pauseAt = performance.now() + SLICE_MS;
  }
  return matched;
}
