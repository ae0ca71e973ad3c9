import { burnDown } from '../../apps/dashboard/pages/credits/burn-down.js';

const PERIOD = { periodStart: '2026-11-10T08:00:00.000Z', periodEnd: '2026-12-10T08:00:00.000Z' };
const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const used = (day: string, credits: number) => ({ at: `2026-11-${day}T00:00:00.000Z`, credits });

describe('burnDown', () => {
  it('computes earlier balances from the present balance and the charges of each day', () => {
    const { days } = burnDown([used('18', 30), used('20', 5)], { ...PERIOD, remaining: 100 }, NOON);
    const past = days.filter(({ remaining }) => remaining !== null);
    expect(past.map(({ day, remaining }) => [day.slice(8), remaining])).toEqual([
      ...['10', '11', '12', '13', '14', '15', '16', '17'].map((day) => [day, 135]),
      ...[
        ['18', 105],
        ['19', 105],
        ['20', 100],
      ],
    ]);
  });

  it('forecasts balances from the average of today and the last seven days, but never below zero', () => {
    const { days, perDay, usedUpAt } = burnDown([used('14', 75)], { ...PERIOD, remaining: 20 }, NOON);
    expect(perDay).toBe(10);
    expect(usedUpAt).toBe('2026-11-22T12:00:00.000Z');
    expect(days.find(({ day }) => day === '2026-11-21')?.forecast).toBe(15);
    expect(days.at(-1)).toEqual({ day: '2026-12-10', remaining: null, forecast: 0 });
  });

  it('forecasts no end of the credits if nothing is used, or if the period ends earlier', () => {
    expect(burnDown([], { ...PERIOD, remaining: 20 }, NOON)).toMatchObject({
      perDay: 0,
      usedUpAt: undefined,
    });
    expect(burnDown([used('20', 1)], { ...PERIOD, remaining: 1000 }, NOON).usedUpAt).toBeUndefined();
  });
});
