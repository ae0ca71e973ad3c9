import { fakeOnly } from '#testing';
import { done, retry } from './outcome.js';
import { eraseTwice } from './purge.js';

const ASKED_AT = Date.parse('2026-01-01T00:00:00Z');
const message = { data: new Uint8Array(), time: new Date(ASKED_AT) };

beforeEach(() => void jest.useFakeTimers(fakeOnly('Date')));
afterEach(() => void jest.useRealTimers());

/**
 * Returns the outcome of one run of a purge.
 * @param beginsMs time from the request of the purge to the beginning of the run
 * @param endsMs time from the request of the purge to the end of the run
 */
async function passed(beginsMs: number, endsMs: number) {
  jest.setSystemTime(ASKED_AT + beginsMs);
  return eraseTwice([message], async () => void jest.setSystemTime(ASKED_AT + endsMs));
}

it('a purge ends with a run that begins at least 20 s after the request, no matter how long an earlier run took', async () => {
  expect(await passed(1000, 1500)).toEqual([retry(18_500)]);
  expect(await passed(1000, 20_500)).toEqual([retry(0)]);
  expect(await passed(20_000, 20_500)).toEqual([done]);
});
