import { setTimeout as wait } from 'node:timers/promises';
import type { SourceConnector } from '#sources';
import type { ReservedRead } from './reservation.js';

/** A read that takes longer is a slow read: other reads do not wait for it. */
const SLOW_MS = 250;
/**
 * While one account has this number of slow reads on a lane, no other read of servers that users name begins on this
 * lane for the account. Exception: the read also serves an account with fewer slow reads.
 */
const MAX_PER_ACCOUNT = 16;
/**
 * Maximum number of slow reads of all accounts on one lane at the same time, because each holds its responses in
 * memory. If this number is reached, a further slow read keeps its place in the lane.
 */
const MAX_OF_ALL_ACCOUNTS = 128;

/**
 * A lane's reads of servers that users name. Such servers can be very slow. A slow read releases its place in the lane
 * and continues, so that slow servers delay only the account that names them.
 */
export class SlowReads {
  private readonly underWay = new Set<Promise<void>>();
  private readonly ofAccount = new Map<string, number>();

  /** Returns false if every account of the read has `MAX_PER_ACCOUNT` or more slow reads. */
  mayBegin(read: ReservedRead): boolean {
    const accounts = accountsOf(read);
    return accounts.length === 0 || accounts.some((id) => (this.ofAccount.get(id) ?? 0) < MAX_PER_ACCOUNT);
  }

  /**
   * Resolves when the read releases its place in the lane: it has ended, or it is slow and `MAX_OF_ALL_ACCOUNTS` allows
   * one more slow read.
   * @param done never rejects
   */
  async holdPlace(read: ReservedRead, done: Promise<void>): Promise<void> {
    const timer = new AbortController();
    const isSlow = await Promise.race([
      done.then(() => false),
      wait(SLOW_MS, true, { signal: timer.signal }).catch(() => false),
    ]);
    timer.abort();
    if (!isSlow) return;
    if (this.underWay.size >= MAX_OF_ALL_ACCOUNTS) return done;
    const accounts = accountsOf(read);
    this.count(accounts, 1);
    const ended = done.finally(() => {
      this.underWay.delete(ended);
      this.count(accounts, -1);
    });
    this.underWay.add(ended);
  }

  /** Resolves when no slow read is running. */
  async onIdle(): Promise<void> {
    await Promise.all(this.underWay);
  }

  private count(accounts: readonly string[], change: number): void {
    for (const id of accounts) {
      const count = (this.ofAccount.get(id) ?? 0) + change;
      if (count > 0) this.ofAccount.set(id, count);
      else this.ofAccount.delete(id);
    }
  }
}

/** Returns whether the read sends requests to servers that users name. */
export function namesServers(connector: SourceConnector, { searches }: ReservedRead): boolean {
  return searches.some(({ criteria }) => (connector.namedServers?.(criteria).length ?? 0) > 0);
}

function accountsOf({ searches }: ReservedRead): string[] {
  return [...new Set(searches.flatMap(({ watches }) => watches.map(({ accountId }) => accountId)))];
}
