import type { KeywordDefinition, KeywordEvent, Watch } from '#contracts';
import { running, withoutReason, withReason, type Pauses } from './pauses.js';

/** The state of one subject of KEYWORDS: no decision yet, or a keyword or lone watch that is alive or retired. */
export type KeywordState =
  | { status: 'none' }
  | KeywordAlive
  | { status: 'keyword-retired'; everyWatchId: readonly string[] }
  | { status: 'watch'; watch: Watch; webhookUrl: string; pauses: Pauses }
  | { status: 'watch-retired' };

/** A keyword that is not retired. It runs while it has no reason for a pause. */
export interface KeywordAlive {
  status: 'keyword';
  definition: KeywordDefinition;
  watches: readonly Watch[];
  /** The ids of all watches, including replaced ones, because a purge must find their events. */
  everyWatchId: readonly string[];
  pauses: Pauses;
  /** 1 after the creation. Each event of a change, a pause or a resume adds 1. */
  version: number;
}

/** The message of a refusal to change a retired keyword. */
export const RETIRED = 'the keyword is retired and cannot be changed; create a new keyword';

/** The state of a subject without events. */
export const nothingYet: KeywordState = { status: 'none' };

/** Returns the state after the event. */
export function evolve(state: KeywordState, { event }: KeywordEvent): KeywordState {
  switch (event.case) {
    case 'keywordCreated': {
      const { definition, watches } = event.value;
      if (!definition) return state;
      const everyWatchId = watches.map(({ watchId }) => watchId);
      return { status: 'keyword', definition, watches, everyWatchId, pauses: running, version: 1 };
    }
    case 'keywordChanged': {
      const { definition, watches } = event.value;
      if (state.status !== 'keyword' || !definition) return state;
      const everyWatchId = [...new Set([...state.everyWatchId, ...watches.map(({ watchId }) => watchId)])];
      return { ...state, definition, watches, everyWatchId, version: state.version + 1 };
    }
    case 'keywordPaused': {
      if (state.status !== 'keyword') return state;
      const { reason, creditsNeeded } = event.value;
      return {
        ...state,
        pauses: withReason(state.pauses, reason, creditsNeeded),
        version: state.version + 1,
      };
    }
    case 'keywordResumed':
      if (state.status !== 'keyword') return state;
      return {
        ...state,
        pauses: withoutReason(state.pauses, event.value.reason),
        version: state.version + 1,
      };
    case 'keywordRetired':
      return state.status === 'keyword'
        ? { status: 'keyword-retired', everyWatchId: state.everyWatchId }
        : state;
    case 'watchCreated': {
      const { watch, webhookUrl = '' } = event.value;
      return watch ? { status: 'watch', watch, webhookUrl, pauses: running } : state;
    }
    case 'watchChanged': {
      if (state.status !== 'watch') return state;
      const { intervalSeconds = state.watch.intervalSeconds, webhookUrl, isActive } = event.value;
      const { pauses } = state;
      return {
        ...state,
        watch: { ...state.watch, intervalSeconds },
        webhookUrl: webhookUrl ?? state.webhookUrl,
        pauses:
          isActive === undefined
            ? pauses
            : isActive
              ? withoutReason(pauses, 'user')
              : withReason(pauses, 'user', 0),
      };
    }
    case 'watchPaused': {
      if (state.status !== 'watch') return state;
      const { reason, creditsNeeded } = event.value;
      return { ...state, pauses: withReason(state.pauses, reason, creditsNeeded) };
    }
    case 'watchResumed':
      if (state.status !== 'watch') return state;
      return { ...state, pauses: withoutReason(state.pauses, event.value.reason) };
    case 'watchRetired':
      return { status: 'watch-retired' };
    // The address of the feed is not part of the state, because no decision depends on it.
    case 'feedRotated':
    case undefined:
      return state;
  }
}
