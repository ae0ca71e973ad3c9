import { LRUCache } from 'lru-cache';
import { TokenBucket } from '#kernel';
import type { ChannelKind } from './channel.js';

/**
 * How many messages a destination accepts per minute, and in a burst, for each kind that has such a limit. The kinds
 * that are not named here have none.
 */
const RATES: Partial<Record<ChannelKind, { perMinute: number; burst: number }>> = {
  // One message per second for each webhook.
  slack: { perMinute: 60, burst: 5 },
  // 30 messages per minute and 5 messages in 2 s for each webhook.
  discord: { perMinute: 30, burst: 5 },
  // 4 requests per second; a workflow of the smallest plan runs about once per second.
  teams: { perMinute: 60, burst: 4 },
  // 20 messages per minute in a group.
  telegram: { perMinute: 20, burst: 5 },
};

interface EndpointState {
  bucket: TokenBucket | undefined;
  /** In ms since the epoch. */
  pausedUntil: number;
}

/**
 * Longest pause in memory. After this time, the pause in the table `webhook_endpoints` applies. If the channel gets a
 * new address, the row of the table is deleted, so the new address waits for at most this time.
 */
const MAX_PAUSE_MS = 10_000;

/**
 * Maximum number of destinations in memory. If there are more, the least recently used ones are removed. A destination
 * that is removed too early can get too many messages. The destination then answers 429.
 */
const MAX_REMEMBERED = 20_000;

/**
 * Keeps deliveries of this replica within the rate of their destination. If a destination asks the sender to wait (429,
 * Retry-After), pauses it immediately; the other replicas read the pause from `webhook_endpoints`. Deliveries above the
 * rate wait in `pending_deliveries`.
 */
export class ChannelPace {
  private readonly states = new LRUCache<string, EndpointState>({ max: MAX_REMEMBERED });

  /** Returns whether a message can be sent to the endpoint now. If so, uses up one message of the endpoint's rate. */
  take(endpoint: string, kind: ChannelKind, now: number): boolean {
    const state = this.stateOf(endpoint, kind, now);
    if (!mayStart(state, now)) return false;
    state.bucket?.take(now);
    return true;
  }

  /**
   * Pauses the endpoint for this time, but at most `MAX_PAUSE_MS`. After that, all replicas read the pause from the
   * table.
   */
  pause(endpoint: string, kind: ChannelKind, forMs: number, now: number): void {
    const state = this.stateOf(endpoint, kind, now);
    state.pausedUntil = Math.max(state.pausedUntil, now + Math.min(forMs, MAX_PAUSE_MS));
  }

  /** Returns whether the endpoint is paused in the memory of this replica. */
  isPaused(endpoint: string, now: number): boolean {
    return now < (this.states.peek(endpoint)?.pausedUntil ?? 0);
  }

  /** Returns the endpoints that accept nothing now. */
  full(now: number): string[] {
    const full: string[] = [];
    for (const [endpoint, state] of this.states.entries()) if (!mayStart(state, now)) full.push(endpoint);
    return full;
  }

  private stateOf(endpoint: string, kind: ChannelKind, now: number): EndpointState {
    let state = this.states.get(endpoint);
    if (!state) {
      const rate = RATES[kind];
      const bucket = rate && new TokenBucket(rate.perMinute, rate.burst, now);
      state = { bucket, pausedUntil: 0 };
      this.states.set(endpoint, state);
    }
    return state;
  }
}

function mayStart({ bucket, pausedUntil }: EndpointState, now: number): boolean {
  return now >= pausedUntil && (bucket?.waitMs(now) ?? 0) === 0;
}
