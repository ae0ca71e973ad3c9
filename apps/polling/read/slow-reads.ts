import { setTimeout as wait } from 'node:timers/promises';
import type { SourceConnector } from '#sources';
import type { ReservedRead } from './reservation.js';

/** A read that takes longer is a slow one: other reads do not wait behind it. */
const SLOW_MS = 250;
/** Slow reads of one account at once. With so many under way, none of its reads begins. */
const MOST_OF_ACCOUNT = 16;
/** Slow reads of all accounts at once, each of which holds its answers in memory. With so many, none gives its place back. */
const MOST_OF_ALL = 128;

/**
 * Reads of servers that users name: such a server may answer as slowly as it likes. A slow read gives its place in the lane
 * back and goes on, so that slow servers hold up only the account that names them.
 */
export class SlowReads {
  private readonly underWay = new Set<Promise<void>>();
  private readonly ofAccount = new Map<string, number>();

  /** False while every account that waits for the read has as many slow reads under way as it may. */
  mayBegin(read: ReservedRead): boolean {
    const accounts = accountsOf(read);
    return accounts.length === 0 || accounts.some((id) => (this.ofAccount.get(id) ?? 0) < MOST_OF_ACCOUNT);
  }

  /** Settles when the read has, or has become a slow one. @param done never rejects */
  async holdPlace(read: ReservedRead, done: Promise<void>): Promise<void> {
    const timer = new AbortController();
    const isSlow = await Promise.race([
      done.then(() => false),
      wait(SLOW_MS, true, { signal: timer.signal }).catch(() => false),
    ]);
    timer.abort();
    if (!isSlow) return;
    if (this.underWay.size >= MOST_OF_ALL) return done;
    const accounts = accountsOf(read);
    this.count(accounts, 1);
    const ended = done.finally(() => {
      this.underWay.delete(ended);
      this.count(accounts, -1);
    });
    this.underWay.add(ended);
  }

  /** Settles when no slow read is under way. */
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

/** Whether it reads servers that users name. */
export function namesServers(connector: SourceConnector, { searches }: ReservedRead): boolean {
  return searches.some(({ criteria }) => (connector.namedServers?.(criteria).length ?? 0) > 0);
}

function accountsOf({ searches }: ReservedRead): string[] {
  return [...new Set(searches.flatMap(({ watches }) => watches.map(({ accountId }) => accountId)))];
}
