import { RecentSpending } from './recent-spending.js';

const nobody: ReadonlySet<string> = new Set();

describe('the recent spending of accounts', () => {
  it('is the sum of the last ten seconds, by account', () => {
    let now = 0;
    const spending = new RecentSpending(() => now);
    spending.add('e1', 'ada', 2);
    now = 5_000;
    spending.add('e2', 'ada', 3);
    spending.add('e3', 'bob', 1);
    expect([...spending.byAccount(nobody)]).toEqual([
      ['ada', 5],
      ['bob', 1],
    ]);
    now = 10_001;
    expect(spending.byAccount(nobody).get('ada')).toBe(3);
    now = 15_001;
    expect([...spending.byAccount(nobody)]).toEqual([]);
  });

  it('counts an event once, and leaves out events that are read again', () => {
    const spending = new RecentSpending(() => 0);
    spending.add('e1', 'ada', 2);
    spending.add('e2', 'ada', 2);
    spending.add('e1', 'ada', 2);
    expect(spending.byAccount(nobody).get('ada')).toBe(4);
    expect(spending.byAccount(new Set(['e1'])).get('ada')).toBe(2);
  });
});
