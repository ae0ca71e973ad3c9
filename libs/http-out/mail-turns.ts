interface Account {
  running: number;
  /** Each call starts one mail. */
  waiting: (() => void)[];
}

/**
 * Shares the connections to the mail server: accounts take turns, and none gets all connections, so that its mails
 * delay no others even if the server does not answer them.
 */
export class MailTurns {
  /** Those with mails, in the order of their turns. */
  private readonly accounts = new Map<string, Account>();
  private running = 0;

  /**
   * @param connections of all accounts together
   * @param perAccount maximum of one account
   */
  constructor(
    private readonly connections: number,
    private readonly perAccount: number,
  ) {}

  /** Number of the account's mails that wait for a connection. */
  waitingOf(accountId: string): number {
    return this.accounts.get(accountId)?.waiting.length ?? 0;
  }

  /** Runs the work when it is its turn. */
  async run<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    let account = this.accounts.get(accountId);
    if (!account) this.accounts.set(accountId, (account = { running: 0, waiting: [] }));
    const { waiting } = account;
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      this.next();
    });
    try {
      return await work();
    } finally {
      this.running -= 1;
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
      if (this.running >= this.connections) return;
      const start = account.running < this.perAccount ? account.waiting.shift() : undefined;
      if (!start) continue;
      account.running += 1;
      this.running += 1;
      // Behind the others, where this loop finds it again.
      this.accounts.delete(accountId);
      this.accounts.set(accountId, account);
      start();
    }
  }
}
