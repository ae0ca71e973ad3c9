import * as fc from 'fast-check';
import { fakeOnly } from '#testing';
import { MailTurns } from './mail-turns.js';

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Mails that run until the spec ends them. */
class Mails {
  readonly started: string[] = [];
  private readonly running: { account: string; end: () => void }[] = [];

  constructor(private readonly turns: MailTurns) {}

  send(account: string, count = 1): void {
    for (let n = 0; n < count; n += 1)
      void this.turns.run(account, () => {
        this.started.push(account);
        return new Promise<void>((end) => this.running.push({ account, end }));
      });
  }

  async end(account?: string): Promise<void> {
    const at = this.running.findIndex((one) => account === undefined || one.account === account);
    const [one] = this.running.splice(at, at < 0 ? 0 : 1);
    one?.end();
    await settle();
  }

  get runningOf(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { account } of this.running) counts[account] = (counts[account] ?? 0) + 1;
    return counts;
  }
}

describe('the connections to the mail server', () => {
  afterEach(() => jest.useRealTimers());

  it('are never all used by two accounts, so that hanging mails of both do not delay a third account', async () => {
    const mails = new Mails(new MailTurns(8, 0));
    mails.send('hangs', 50);
    await settle();
    expect(mails.runningOf).toEqual({ hangs: 4 });
    mails.send('hangs too', 50);
    mails.send('other', 3);
    await settle();
    expect(mails.runningOf).toEqual({ hangs: 4, 'hangs too': 2, other: 1 });
    await mails.end('other');
    await mails.end('other');
    expect(mails.started.filter((account) => account === 'other').length).toBe(3);
  });

  it('take no waiting mail after `clear`, but finish the mails that are being sent', async () => {
    const turns = new MailTurns(1, 0);
    let end: (text: string) => void = () => {};
    const first = turns.run('account', () => new Promise<string>((resolve) => (end = resolve)));
    const waiting = ['account', 'other'].map((account) => turns.run(account, () => Promise.resolve('sent')));
    await settle();
    turns.clear();
    expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
    end('sent');
    expect(await first).toBe('sent');
  });

  it('are shared as if all accounts with a stalled mail in the last minute were one account', async () => {
    jest.useFakeTimers(fakeOnly('Date'));
    const mails = new Mails(new MailTurns(8, 0));
    const stalling = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const account of stalling) mails.send(account);
    await settle();
    jest.setSystemTime(Date.now() + 10_000);
    for (const _ of stalling) await mails.end();
    for (const account of stalling) mails.send(account, 9);
    mails.send('other', 2);
    await settle();
    expect(mails.runningOf).toEqual({ a: 4, other: 2 });
    for (const _ of [1, 2]) await mails.end('other');
    await mails.end('a');
    expect(mails.runningOf).toEqual({ a: 4 });
    jest.setSystemTime(Date.now() + 60_000);
    for (const _ of [1, 2, 3]) await mails.end('a');
    mails.send('other');
    await settle();
    expect(mails.runningOf).toEqual({ a: 2, b: 1, c: 1, d: 1, e: 1, f: 1, other: 1 });
  });

  it('are free for other accounts after 5 s without a reply to whole mails, until too many replies are late', async () => {
    jest.useFakeTimers(fakeOnly('Date', 'setTimeout', 'clearTimeout'));
    const turns = new MailTurns(8, 4);
    const started: string[] = [];
    const ends: (() => void)[] = [];
    const send = (account: string, count: number) => {
      for (let n = 0; n < count; n += 1)
        void turns.run(account, (hasWholeMail) => {
          started.push(account);
          hasWholeMail();
          return new Promise<void>((end) => ends.push(end));
        });
    };
    send('a', 4);
    for (const account of ['b', 'c', 'd', 'e']) send(account, 1);
    await settle();
    const count = (account: string) => started.filter((one) => one === account).length;
    expect(started.length).toBe(8);
    send('other', 9);
    await settle();
    expect(count('other')).toBe(0);
    jest.advanceTimersByTime(5_000);
    await settle();
    expect(count('other')).toBe(2);
    for (const end of ends) end();
    await settle();
    expect(count('other')).toBe(6);
  });

  it('are given to accounts in turn: one mail does not wait for the hundred mails of another account', async () => {
    const mails = new Mails(new MailTurns(2, 0));
    mails.send('a', 100);
    mails.send('b', 2);
    mails.send('c');
    await settle();
    for (let n = 0; n < 6; n += 1) await mails.end();
    expect(mails.started.join('')).toBe('ababcaa');
  });

  it('send every mail once, and never more mails at the same time than there are connections', async () => {
    const step = fc.oneof(fc.constantFrom('a', 'b', 'c'), fc.constant(undefined));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const turns = new MailTurns(5, 0);
        const mails = new Mails(turns);
        for (const account of steps) {
          if (account === undefined) await mails.end();
          else mails.send(account);
          await settle();
          const counts = Object.values(mails.runningOf);
          const free = 5 - counts.reduce((sum, count) => sum + count, 0);
          expect(free).toBeGreaterThanOrEqual(0);
          expect(Math.max(0, ...counts)).toBeLessThanOrEqual(3);
          // No connection is free while a mail could use it.
          for (const name of ['a', 'b', 'c'])
            if (turns.waitingOf(name) > 0) expect(mails.runningOf[name] ?? 0).toBeGreaterThanOrEqual(free);
        }
        const sent = steps.filter((account) => account !== undefined);
        for (let n = 0; n < sent.length; n += 1) await mails.end();
        expect(mails.started.toSorted()).toEqual(sent.toSorted());
      }),
    );
  });
});
