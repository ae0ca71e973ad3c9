import type { FeedState } from '../domain/feed-watch.js';
import type { HealthState } from '../domain/health.js';
import type { Spent } from '../domain/quotas.js';

/**
 * What a lane has learned about its upstream. The memory is stored in Postgres, so that it is available after the lane
 * has moved to another replica, and after a restart.
 */
export interface LaneMemory extends HealthState {
  blockedUntil: Date;
  /** Why the lane waits, as text for people. */
  blockedReason: string;
  feed: FeedState | undefined;
  quotas: Record<string, Spent>;
}

/** The memory of a lane that has never sent a request. */
export const NOTHING_LEARNED: LaneMemory = {
  blockedUntil: new Date(0),
  blockedReason: '',
  failures: 0,
  trouble: '',
  lastSuccessAt: undefined,
  feed: undefined,
  quotas: {},
};
