/**
 * A mail that takes this long counts as stalled, and a reply to a complete mail as late. A usual server needs a fraction of
 * this time.
 */
const STALLED_MS = 5_000;
/**
 * How long an account counts as stalled after a stalled mail. Mails that end in time do not shorten this time.
 * Otherwise the account would often get as many connections as an account that never stalled.
 */
const STALLING_MS = 60_000;
/** The group of all accounts whose mails stall. No account has this id. */
const STALLED = 'stalled';

interface Account {
  running: number;
  /** Each call starts one mail in its group. Without a group, the mail is dropped. */
  waiting: ((group?: string) => void)[];
}

/**
 * Shares the connections to the mail server, so that unanswered mails of one account do not delay other accounts.
 * Accounts take turns, and an account starts a mail only if it has fewer connections than are free. Of 8 connections,
 * the first account gets at most 4, and the next one 2. All accounts with a mail that stalled within the last minute
 * count as one account together.
 *
 * A mail whose reply is late gives its turn back, because the reply can take minutes (RFC 5321, 4.5.3.2.6). Its connection
 * stays open in addition to the others, as long as not too many replies are late.
 */
export class MailTurns {
  /** Accounts with mails, in the order of their turns. */
  private readonly accounts = new Map<string, Account>();
  /** For each account: when its last stalled mail ended, epoch ms. */
  private readonly stalledAt = new Map<string, number>();
  /** Running mails by group: one account, or all stalled accounts. */
  private readonly runningOf = new Map<string, number>();
  private running = 0;
  /** Number of running mails whose reply is late. */
  private late = 0;

  /**
   * @param connections maximum number of connections of all accounts together
   * @param lateReplies maximum number of further connections for mails whose reply is late
   */
  constructor(
    private readonly connections: number,
    private readonly lateReplies: number,
  ) {}

  /** Returns the number of the account's mails that wait for a connection. */
  waitingOf(accountId: string): number {
    return this.accounts.get(accountId)?.waiting.length ?? 0;
  }

  /**
   * Runs the work when it is the account's turn and a connection is free. The work calls its parameter when the server has
   * the whole mail, and only the reply is missing.
   * @returns undefined if `clear` dropped the mail before its turn
   */
  async run<T>(accountId: string, work: (hasWholeMail: () => void) => Promise<T>): Promise<T | undefined> {
    let account = this.accounts.get(accountId);
    if (!account) this.accounts.set(accountId, (account = { running: 0, waiting: [] }));
    const { waiting } = account;
    const group = await new Promise<string | undefined>((resolve) => {
      waiting.push(resolve);
      this.next();
    });
    if (group === undefined) return undefined;
    const beganAt = Date.now();
    let isLate = false;
    let timer: NodeJS.Timeout | undefined;
    const hasWholeMail = () => {
      timer = setTimeout(() => {
        isLate = true;
        this.late += 1;
        this.stalledAt.set(accountId, Date.now());
        this.next();
      }, STALLED_MS).unref();
    };
    try {
      return await work(hasWholeMail);
    } finally {
      clearTimeout(timer);
      if (isLate) this.late -= 1;
      if (Date.now() - beganAt >= STALLED_MS) this.stalledAt.set(accountId, Date.now());
      this.count(group, -1);
      account.running -= 1;
      if (account.running === 0 && waiting.length === 0) this.accounts.delete(accountId);
      this.next();
    }
  }

  /** Drops the waiting mails: they are never sent. */
  clear(): void {
    for (const { waiting } of this.accounts.values()) for (const drop of waiting.splice(0)) drop();
  }

  private get free(): number {
    return this.connections + Math.min(this.late, this.lateReplies) - this.running;
  }

  private next(): void {
    for (const [accountId, account] of this.accounts) {
      if (this.free <= 0) return;
      const group = this.groupOf(accountId);
      const start = (this.runningOf.get(group) ?? 0) < this.free ? account.waiting.shift() : undefined;
      if (!start) continue;
      account.running += 1;
      this.count(group, 1);
      // Moves the account to the end, where this loop reaches it again.
      this.accounts.delete(accountId);
      this.accounts.set(accountId, account);
      start(group);
    }
  }

  private groupOf(accountId: string): string {
    const at = this.stalledAt.get(accountId);
    if (at === undefined) return accountId;
    if (Date.now() - at < STALLING_MS) return STALLED;
    this.stalledAt.delete(accountId);
    return accountId;
  }

  private count(group: string, change: 1 | -1): void {
    this.running += change;
    const running = (this.runningOf.get(group) ?? 0) + change;
    if (running === 0) this.runningOf.delete(group);
    else this.runningOf.set(group, running);
  }
}
