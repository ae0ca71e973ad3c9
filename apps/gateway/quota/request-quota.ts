import { Inject, Injectable, Optional } from '@nestjs/common';
import { Repeated, systemClock, within, type Clock } from '#kernel';
import { DATABASE, LOG, type Loop } from '#platform';
import type { Database } from '#postgres';
import { metrics, type Logger } from '#telemetry';
import { AccountWindow, WINDOW_MS } from './account-window.js';
import { QuotaLeases } from './quota-leases.js';

/** Injection token of the clock that decides which minute it is. Tests use their own clock. */
export const QUOTA_CLOCK = Symbol('quota clock');

/** Whether a request is admitted, and what is left of the quota. */
export interface QuotaResult {
  admitted: boolean;
  /** Requests per minute. */
  limit: number;
  /** Requests that are left in the minute, as far as this gateway knows. */
  remaining: number;
  /** Seconds until the minute ends, rounded up; at least 1. */
  resetSeconds: number;
}

const SWEEP_MS = 50;
/**
 * Maximum time in ms that requests wait for one lease. A lease is a number of requests that this gateway is allowed to
 * admit.
 */
const LEASE_TIMEOUT_MS = 2000;
/** If the lease cannot be read, requests of the account are admitted without a lease for this time, in ms. */
const OUTAGE_MS = 1000;

/**
 * Limits the requests of an account per UTC minute. All keys of the account and all gateways share this quota. A
 * gateway gets leases, which are parts of the quota (ADR 0014): it admits requests from leases in memory, gets the next
 * lease in the background, and returns unused leases. While Postgres is unavailable, requests are admitted without a
 * count.
 */
@Injectable()
export class RequestQuota implements Loop {
  readonly name = 'request-quota';
  private readonly windows = new Map<string, AccountWindow>();
  private readonly leases: QuotaLeases;
  private readonly sweeps = new Repeated({
    pauseMs: SWEEP_MS,
    run: () => this.giveBackIdle(),
    failed: (error) => this.log.warn({ err: error }, 'idle leases of requests could not be returned'),
  });
  private isUnavailable = false;

  constructor(
    @Inject(DATABASE) database: Database,
    @Inject(LOG) private readonly log: Logger,
    @Optional() @Inject(QUOTA_CLOCK) private readonly clock: Clock = systemClock,
  ) {
    this.leases = new QuotaLeases(database);
  }

  start(): void {
    this.sweeps.start();
  }

  async stop(): Promise<void> {
    await this.sweeps.stop();
    const windows = [...this.windows];
    this.windows.clear();
    await Promise.all(windows.map(([, window]) => window.fetching));
    await this.giveBack(windows);
  }

  /** Uses one request of the account's minute. Waits only if the gateway has no lease with requests left. */
  take(accountId: string, limit: number): QuotaResult | Promise<QuotaResult> {
    const now = this.now();
    const window = this.windowOf(accountId, limit, now);
    window.lastRequestAt = now;
    if (window.leased > 0) {
      window.leased -= 1;
      const mayAsk = !window.isUsedUp(now) && window.openUntil <= now;
      if (window.wantsMore && mayAsk) this.refill(accountId, limit, window);
      return resultOf(true, limit, window, now);
    }
    if (window.openUntil > now) return resultOf(true, limit, window, now);
    if (!window.fetching && window.isUsedUp(now)) return resultOf(false, limit, window, now);
    return this.wait(accountId, limit, window);
  }

  /**
   * Waits for a lease. Waiting requests share one statement. A request that gets nothing from this statement waits for
   * the next statement, until the minute is used up.
   */
  private async wait(accountId: string, limit: number, window: AccountWindow): Promise<QuotaResult> {
    window.waiting += 1;
    try {
      await (window.fetching ?? this.fetch(accountId, limit, window));
    } finally {
      window.waiting -= 1;
    }
    return this.take(accountId, limit);
  }

  /**
   * Gets the next lease in the background. Even the preparation of the statement does not delay the current request.
   */
  private refill(accountId: string, limit: number, window: AccountWindow): void {
    if (window.fetching || window.isRefilling) return;
    window.isRefilling = true;
    setImmediate(() => {
      window.isRefilling = false;
      const isCurrent = this.windows.get(accountId) === window;
      if (isCurrent && !window.fetching) void this.fetch(accountId, limit, window);
    });
  }

  private fetch(accountId: string, limit: number, window: AccountWindow): Promise<void> {
    window.fetching = this.lease(accountId, limit, window).finally(() => {
      window.fetching = undefined;
    });
    return window.fetching;
  }

  private async lease(accountId: string, limit: number, window: AccountWindow): Promise<void> {
    const wanted = Math.max(window.leaseSize, window.waiting);
    const leased = this.leases.take(accountId, window.start, wanted, limit).then((lease) => {
      const owner = this.ownerOf(accountId, limit, lease.windowStart, window);
      owner.receive(lease.granted, lease.used, wanted, this.now());
      this.isUnavailable = false;
    });
    try {
      if (await within(LEASE_TIMEOUT_MS, leased)) return;
      leased.catch(() => undefined);
      this.admitAll(window, new Error(`no answer within ${LEASE_TIMEOUT_MS} ms`));
    } catch (error) {
      this.admitAll(window, error);
    }
  }

  /**
   * Returns the window (minute) to which a lease belongs. The table can be a minute ahead of this gateway's clock, so
   * the returned window can differ from the requested window.
   */
  private ownerOf(accountId: string, limit: number, start: number, requested: AccountWindow): AccountWindow {
    const owner = [requested, this.windows.get(accountId)].find((window) => window?.start === start);
    if (owner) return owner;
    const ahead = new AccountWindow(start, limit);
    this.windows.set(accountId, ahead);
    return ahead;
  }

  private admitAll(window: AccountWindow, error: unknown): void {
    window.openUntil = this.now() + OUTAGE_MS;
    metrics.quotaOutages.add(1);
    if (!this.isUnavailable)
      this.log.error({ err: error }, 'request quotas cannot be counted; all requests are admitted');
    this.isUnavailable = true;
  }

  private windowOf(accountId: string, limit: number, now: number): AccountWindow {
    const known = this.windows.get(accountId);
    if (known && now < known.end) return known.withLimit(limit);
    const window = new AccountWindow(now - (now % WINDOW_MS), limit);
    this.windows.set(accountId, window);
    return window;
  }

  private async giveBackIdle(): Promise<void> {
    const now = this.now();
    const idle = [...this.windows].filter(([accountId, window]) => {
      if (window.end <= now && !window.fetching) this.windows.delete(accountId);
      return window.end > now && window.isIdle(now);
    });
    await this.giveBack(idle);
  }

  private async giveBack(windows: readonly (readonly [string, AccountWindow])[]): Promise<void> {
    const unspent = windows
      .map(([accountId, window]) => ({ accountId, windowStart: window.start, requests: window.returnAll() }))
      .filter(({ requests }) => requests > 0);
    if (unspent.length === 0) return;
    // If requests cannot be returned to the quota, nobody can use them in this minute.
    await this.leases
      .giveBack(unspent)
      .catch((error: unknown) =>
        this.log.warn({ err: error, unspent }, 'leases of requests could not be returned'),
      );
  }

  private now(): number {
    return this.clock.now().getTime();
  }
}

function resultOf(admitted: boolean, limit: number, window: AccountWindow, now: number): QuotaResult {
  return {
    admitted,
    limit,
    remaining: admitted ? window.remaining : 0,
    resetSeconds: Math.max(1, Math.ceil((window.end - now) / 1000)),
  };
}
