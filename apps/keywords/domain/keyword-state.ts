import type { KeywordDefinition, Watch } from '#contracts';
import type { Pauses } from './pauses.js';

/** One subject of KEYWORDS: nothing yet, a keyword, or a watch that no keyword owns. */
export type KeywordState =
  | { status: 'none' }
  | KeywordAlive
  | { status: 'keyword-retired'; everyWatchId: readonly string[] }
  | { status: 'watch'; watch: Watch; webhookUrl: string; pauses: Pauses }
  | { status: 'watch-retired' };

/** A keyword that has not been retired; it runs while nothing pauses it. */
export interface KeywordAlive {
  status: 'keyword';
  definition: KeywordDefinition;
  watches: readonly Watch[];
  /** Those that were replaced too: a purge has to find their events. */
  everyWatchId: readonly string[];
  pauses: Pauses;
  /** Changes so far. */
  version: number;
}

export const nothingYet: KeywordState = { status: 'none' };
