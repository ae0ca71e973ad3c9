import { create } from '@bufbuild/protobuf';
import { ScheduleSchema } from '#contracts';
import { isScheduled, nextScheduleChange } from './schedule.js';

const at = (text: string) => Date.parse(text);
const schedule = (startsAt?: string, endsAt?: string, timezone = 'Europe/Berlin') =>
  create(ScheduleSchema, { timezone, ...(startsAt ? { startsAt } : {}), ...(endsAt ? { endsAt } : {}) });

it.each([
  ['2026-03-01T10:59:59.999Z', false],
  ['2026-03-01T11:00:00.000Z', true],
  ['2026-03-02T10:59:59.999Z', true],
  ['2026-03-02T11:00:00.000Z', false],
])(
  'a keyword with a schedule from noon to noon in Berlin runs at %s: %s [keywords.schedule, keywords.timezone]',
  (now, runs) => {
    expect(isScheduled(schedule('2026-03-01T12:00', '2026-03-02T12:00'), at(now))).toBe(runs);
  },
);

it('a keyword without a schedule always runs, and a schedule without an end never ends', () => {
  expect(isScheduled(undefined, 0)).toBe(true);
  expect(isScheduled(schedule('2026-03-01T12:00Z'), at('2030-01-01'))).toBe(true);
});

it('a schedule changes at its start, then at its end, then never again', () => {
  const one = schedule('2026-03-01T12:00Z', '2026-03-02T12:00Z');
  expect(nextScheduleChange(one, at('2026-02-01'))).toBe(at('2026-03-01T12:00Z'));
  expect(nextScheduleChange(one, at('2026-03-01T12:00Z'))).toBe(at('2026-03-02T12:00Z'));
  expect(nextScheduleChange(one, at('2026-03-02T12:00Z'))).toBeUndefined();
  expect(nextScheduleChange(undefined, 0)).toBeUndefined();
});
