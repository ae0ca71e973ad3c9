import type { FeedState } from '../domain/feed-watch.js';
import type { HealthState } from '../domain/health.js';
import type { Spent } from '../domain/quotas.js';

/** What a lane has learned about its upstream: kept in Postgres, so that it holds after a move or a restart. */
export interface LaneMemory extends HealthState {
  blockedUntil: Date;
  /** What the lane waits for, for people. */
  blockedReason: string;
  feed: FeedState | undefined;
  quotas: Record<string, Spent>;
}

/** A lane that has never asked. */
export const NOTHING_LEARNED: LaneMemory = {
  blockedUntil: new Date(0),
  blockedReason: '',
  failures: 0,
  trouble: '',
  lastSuccessAt: undefined,
  feed: undefined,
  quotas: {},
};
