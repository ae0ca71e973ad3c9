import fc from 'fast-check';
import type { QuotedPeriod } from '#quotes';
import { nextDue } from '../../polling/domain/next-due.js';
import { quoteFaults } from './quoted-and-charged.js';
import { cause, healthy, OPENED, quote } from './testing/audit-under-test.js';

const BEGIN = Date.parse(OPENED);
const END = BEGIN + 28 * 86_400_000;

/** What the user does with the watch, `after` the previous action: pauses or resumes it, or changes its interval. */
interface Action {
  after: number;
  intervalSeconds: number | undefined;
}

interface Month {
  intervalSeconds: number;
  /** The interval of another watch on the same search, or undefined: the first one at the first check, and so on. */
  otherSeconds: (number | undefined)[];
  origin: number;
  actions: Action[];
  /** How long a check takes, in ms. A check that has started is recorded even if the watch is paused meanwhile. */
  duration: number;
}

const intervalSeconds = fc.oneof(
  fc.constantFrom(600, 1_800, 3_600, 86_400),
  fc.integer({ min: 600, max: 100_000 }),
);
const minutes = fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 3_000 }));
const action: fc.Arbitrary<Action> = fc.record({
  after: minutes.map((count) => count * 60_000 + 1),
  intervalSeconds: fc.option(intervalSeconds, { nil: undefined }),
});
/** Pauses a watch, makes its interval shorter, then longer again, and resumes it some minutes later: many times. */
const detours: fc.Arbitrary<Action[]> = fc
  .record({
    longSeconds: fc.integer({ min: 20_000, max: 100_000 }),
    pausedMinutes: fc.integer({ min: 10, max: 60 }),
    times: fc.integer({ min: 2, max: 12 }),
  })
  .map(({ longSeconds, pausedMinutes, times }) =>
    Array.from({ length: times }, (): Action[] => [
      { after: 60_001, intervalSeconds: longSeconds },
      { after: 60_001, intervalSeconds: undefined },
      { after: 1, intervalSeconds: 600 },
      { after: 1, intervalSeconds: longSeconds },
      { after: pausedMinutes * 60_000, intervalSeconds: undefined },
    ]).flat(),
  );
const months: fc.Arbitrary<Month> = fc.record({
  intervalSeconds,
  otherSeconds: fc.array(fc.option(intervalSeconds, { nil: undefined }), { minLength: 1, maxLength: 20 }),
  origin: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  actions: fc.oneof(fc.array(action, { maxLength: 60 }), detours),
  duration: fc.integer({ min: 0, max: 300_000 }),
});

/** Runs the watch through the month, by the rules of the scheduler. Returns the quotes, and the times of the checks. */
function simulated(month: Month): { quotes: QuotedPeriod[]; checks: number[] } {
  const quotes: QuotedPeriod[] = [];
  const checks: number[] = [];
  let interval = month.intervalSeconds;
  let isRunning = true;
  let from = BEGIN;
  let due = BEGIN;
  const runUntil = (until: number) => {
    for (;;) {
      const startedAt = Math.max(due, from);
      if (!isRunning || startedAt >= until) return;
      const at = startedAt + month.duration;
      checks.push(at);
      const other = month.otherSeconds[checks.length % month.otherSeconds.length] ?? interval;
      due = nextDue(at, interval * 1000, Math.min(interval, other) * 1000, month.origin);
    }
  };
  const begin = () => {
    const previousTo = quotes.at(-1)?.to;
    quotes.push({ ...quote, from, to: undefined, previousTo, intervalSeconds: interval });
  };
  begin();
  for (const action of month.actions) {
    const at = from + action.after;
    if (at >= END) break;
    runUntil(at);
    from = at;
    const last = quotes.at(-1);
    if (action.intervalSeconds === undefined) isRunning = !isRunning;
    else interval = action.intervalSeconds;
    if (last) last.to ??= at;
    if (!isRunning) continue;
    due = Math.min(due, at + interval * 1000);
    begin();
  }
  runUntil(END);
  return { quotes, checks };
}

function faultsOf(
  quotes: QuotedPeriod[],
  checks: readonly number[],
  credits = quote.creditsPerCheck,
): string[] {
  const input = healthy([]);
  const one = cause(1);
  // Only quotes are compared here, so the movements need no ids and balances.
  const movements = checks.map((at) => ({
    amount: -credits,
    cause: { case: 'charge', value: { ...one, at: new Date(at).toISOString() } },
  }));
  return quoteFaults({
    ...input,
    now: END,
    quotes,
    decisions: [{ seq: 1, decision: { movements } }] as never,
  });
}

describe('the maximum that an audit allows for the checks of a watch', () => {
  it('includes every check that the scheduler can make in a month of pauses and changes of the interval', () => {
    fc.assert(
      fc.property(months, (month) => {
        const { quotes, checks } = simulated(month);
        expect(faultsOf(quotes, checks)).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  it('includes the first scan of a watch that was paused before its first check, on the day of the scan', () => {
    const day = 86_400_000;
    const begun = { ...quote, to: BEGIN + 1, firstScanCredits: 50 };
    const quotes = [begun, { ...quote, from: BEGIN + 3 * day, previousTo: begun.to }];
    expect(faultsOf(quotes, [BEGIN + 3 * day], 50)).toEqual([]);
    expect(
      faultsOf(
        quotes,
        [3, 4].map((n) => BEGIN + n * day),
        60,
      ),
    ).not.toEqual([]);
  });

  it('includes the checks of a daily watch that is paused for three days each week, but not a check on every day', () => {
    const day = 86_400_000;
    const quotes = [0, 7, 14, 21].map((n) => ({
      ...quote,
      from: BEGIN + n * day,
      to: BEGIN + (n + 4) * day,
      previousTo: n === 0 ? undefined : BEGIN + (n - 3) * day,
      intervalSeconds: 86_400,
      firstScanCredits: 0,
    }));
    const daily = Array.from({ length: 25 }, (_, n) => BEGIN + n * day);
    const correct = daily.filter((at) => ((at - BEGIN) / day) % 7 < 4);
    expect(faultsOf(quotes, correct)).toEqual([]);
    expect(faultsOf(quotes, daily)).toHaveLength(1);
  });

  describe('for a watch that is paused each night', () => {
    const nights = Array.from({ length: 56 }, (): Action => ({
      after: 43_200_000,
      intervalSeconds: undefined,
    }));
    const month = { intervalSeconds: 3_600, otherSeconds: [undefined], origin: 1_234, duration: 1_000 };
    const { quotes, checks } = simulated({ ...month, actions: nights });

    it('is exceeded on each day and over the whole time if each check is charged twice', () => {
      expect(faultsOf(quotes, checks)).toEqual([]);
      expect(faultsOf(quotes, [...checks, ...checks])).toHaveLength(29);
    });

    it('is exceeded if the checks cost twice the quoted price', () => {
      const halves = quotes.map((one) => ({ ...one, creditsPerCheck: one.creditsPerCheck / 2 }));
      expect(faultsOf(halves, checks)).toHaveLength(29);
    });

    it('is exceeded by a check that is charged some days after the end of the watch', () => {
      const ended = quotes.slice(0, 3);
      const untilEnd = checks.filter((at) => at < (ended.at(-1)?.to ?? 0));
      expect(faultsOf(ended, untilEnd)).toEqual([]);
      expect(faultsOf(ended, [...untilEnd, BEGIN + 5 * 86_400_000])).toHaveLength(1);
    });
  });
});
