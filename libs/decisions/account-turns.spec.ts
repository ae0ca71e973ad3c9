import { Outage } from '#kernel';
import type { Database } from '#postgres';
import { fakeOnly } from '#testing';
import { inTurnOfAccount } from './account-turns.js';

const database = { transaction: (work: () => Promise<unknown>) => work() } as unknown as Database;

afterEach(() => jest.useRealTimers());

describe('work of an account', () => {
  it('is not done after a wait of more than 5 s, unless it has no such limit', async () => {
    jest.useFakeTimers(fakeOnly('performance'));
    let end = () => {};
    const earlier = inTurnOfAccount(database, 'one', () => new Promise<void>((resolve) => (end = resolve)));
    // The earlier work begins.
    await Promise.resolve();
    const done: string[] = [];
    const tooLate = inTurnOfAccount(database, 'one', () => Promise.resolve(done.push('too late')));
    const refused = expect(tooLate).rejects.toThrow(Outage);
    const patient = inTurnOfAccount(
      database,
      'one',
      () => Promise.resolve(done.push('without a limit')),
      Infinity,
    );
    jest.advanceTimersByTime(4000);
    const inTime = inTurnOfAccount(database, 'one', () => Promise.resolve(done.push('in time')));
    jest.advanceTimersByTime(1500);
    end();
    await Promise.all([earlier, refused, patient, inTime]);
    expect(done).toEqual(['without a limit', 'in time']);
  });
});
