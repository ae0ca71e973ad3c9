/** A mail that takes this long stalls: a usual server needs a fraction of it. */
const STALLED_MS = 5_000;
/** The group of all accounts whose mails stall. No account has this id. */
const STALLED = 'stalled';

interface Account {
  running: number;
  /** Each call starts one mail. */
  waiting: (() => void)[];
}

/**
 * Shares the connections to the mail server, so that mails which the server does not answer delay no other account:
 * accounts take turns, and one starts a mail only if it has fewer connections than are free. Of 8, the first gets at most
 * 4, and the next one 2. Accounts whose last mail stalled count as one account together.
 */
export class MailTurns {
  /** Those with mails, in the order of their turns. */
  private readonly accounts = new Map<string, Account>();
  /** Accounts whose last mail stalled. */
  private readonly stalled = new Set<string>();
  /** Running mails by group: an account, or all that stall. */
  private readonly runningOf = new Map<string, number>();
  private free: number;

  /** @param connections of all accounts together */
  constructor(connections: number) {
    this.free = connections;
  }

  /** Number of the account's mails that wait for a connection. */
  waitingOf(accountId: string): number {
    return this.accounts.get(accountId)?.waiting.length ?? 0;
  }

  /** Runs the work when it is its turn. */
  async run<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    let account = this.accounts.get(accountId);
    if (!account) this.accounts.set(accountId, (account = { running: 0, waiting: [] }));
    const { waiting } = account;
    const group = await new Promise<string>((resolve) => {
      waiting.push(() => resolve(this.groupOf(accountId)));
      this.next();
    });
    const beganAt = Date.now();
    try {
      return await work();
    } finally {
      if (Date.now() - beganAt >= STALLED_MS) this.stalled.add(accountId);
      else this.stalled.delete(accountId);
      this.count(group, -1);
      account.running -= 1;
      if (account.running === 0 && waiting.length === 0) this.accounts.delete(accountId);
      this.next();
    }
  }

  /** Forgets what waits: it is never run. */
  clear(): void {
    for (const { waiting } of this.accounts.values()) waiting.length = 0;
  }

  private next(): void {
    for (const [accountId, account] of this.accounts) {
      if (this.free === 0) return;
      const group = this.groupOf(accountId);
      const start = (this.runningOf.get(group) ?? 0) < this.free ? account.waiting.shift() : undefined;
      if (!start) continue;
      account.running += 1;
      this.count(group, 1);
      // Behind the others, where this loop finds it again.
      this.accounts.delete(accountId);
      this.accounts.set(accountId, account);
      start();
    }
  }

  private groupOf(accountId: string): string {
    return this.stalled.has(accountId) ? STALLED : accountId;
  }

  private count(group: string, change: 1 | -1): void {
    this.free -= change;
    const running = (this.runningOf.get(group) ?? 0) + change;
    if (running === 0) this.runningOf.delete(group);
    else this.runningOf.set(group, running);
  }
}
