import fc from 'fast-check';
import type { CheckRun } from '../../reads/coverage-reads.js';
import { timelineOf, type SearchChecks } from './timeline.js';

const run = (outcome: CheckRun['outcome'], from: number, to: number, message = ''): CheckRun => ({
  ...{ outcome, from, to, message },
  checks: 1,
});
const MINUTE = 60_000;
const at = (minutes: number) => minutes * MINUTE;
/** Returns the windows of the timeline that begins at minute 0, each as `from-to status: reason` in minutes. */
function shown(
  runs: CheckRun[],
  {
    now = 60,
    until = 60,
    next = 61,
    idle,
  }: Partial<Record<'now' | 'until' | 'next', number>> & { idle?: string } = {},
) {
  const checks: SearchChecks = { runs, idle, nextCheckAt: at(next) };
  return timelineOf(checks, { since: 0, until: at(until), now: at(now) }).map(
    ({ from, to, status, reason }) =>
      `${from / MINUTE}-${to / MINUTE} ${status}${reason ? `: ${reason}` : ''}`,
  );
}

describe('the timeline of a search', () => {
  it('is covered where checks read everything, up to the last check [coverage.windows]', () => {
    expect(shown([run('covered', at(-5), at(55))])).toEqual(['0-55 covered']);
  });

  it('shows failed checks with their reason, from the end of the last covered time until now', () => {
    expect(shown([run('covered', 0, at(30)), run('failed', at(40), at(50), '503')])).toEqual([
      '0-30 covered',
      '30-60 failed: 503',
    ]);
  });

  it('shows a time of failures as covered if a later check read this time, and states the failure', () => {
    expect(
      shown([
        run('covered', 0, at(30)),
        run('failed', at(40), at(50), '503'),
        run('covered', at(30), at(60)),
      ]),
    ).toEqual(['0-30 covered', '30-50 covered: read later, after: 503', '50-60 covered']);
  });

  it('shows a gap where a check did not read back to the previous check', () => {
    expect(
      shown([
        run('covered', 0, at(30)),
        run('gap', at(30), at(40), 'too much'),
        run('covered', at(40), at(60)),
      ]),
    ).toEqual(['0-30 covered', '30-40 gap: too much', '40-60 covered']);
  });

  it('shows a gap, with the reason of the pause, for times in which nothing was checked', () => {
    expect(shown([run('covered', at(20), at(30))], { idle: 'the keyword is paused: user' })).toEqual([
      '0-20 gap: the keyword is paused: user',
      '20-30 covered',
      '30-60 gap: the keyword is paused: user',
    ]);
  });

  it('shows a gap after the last check if the next check is overdue', () => {
    expect(shown([run('covered', 0, at(30))], { next: 31 })).toEqual([
      '0-30 covered',
      '30-60 gap: no check was made in this time',
    ]);
  });

  it('ends at `until` and never in the future', () => {
    expect(shown([run('covered', 0, at(90))], { until: 40, now: 100 })).toEqual(['0-40 covered']);
    expect(shown([run('covered', 0, at(90))], { until: 80, now: 50 })).toEqual(['0-50 covered']);
  });

  it('has windows without holes or overlaps, and covers exactly the times that checks covered', () => {
    const outcome = fc.constantFrom('covered' as const, 'gap' as const, 'failed' as const);
    const runs = fc.array(fc.record({ outcome, gapMs: fc.nat(5), lengthMs: fc.nat(20) }), { maxLength: 30 });
    fc.assert(
      fc.property(runs, fc.nat(200), (given, until) => {
        let end = 0;
        const all = given.map(({ outcome, gapMs, lengthMs }) => {
          const from = end + gapMs;
          end = from + lengthMs;
          return run(outcome, from, end, 'x');
        });
        const windows = timelineOf(
          { runs: all, idle: 'paused', nextCheckAt: undefined },
          { since: 0, until, now: 1000 },
        );
        expect(windows.reduce((place, { from, to }) => (expect(from).toBe(place), to), 0)).toBe(until);
        const isCovered = (time: number) =>
          all.some((one) => one.outcome === 'covered' && one.from <= time && time < one.to);
        for (let time = 0; time < until; time++) {
          const window = windows.find(({ from, to }) => from <= time && time < to);
          expect(window?.status === 'covered').toBe(isCovered(time));
        }
      }),
    );
  });
});
