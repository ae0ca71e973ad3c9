import type { Clock } from '#kernel';
import type { Logger } from '#telemetry';
import { FailedKeyAttempts, MAX_BAD_KEYS } from './failed-key-attempts.js';

const FAULT = 'the API key is not valid';

/** Returns the counter, its log and its clock, which shows ten seconds after the start of a minute. */
function badKeys(at = new Date('2026-03-04T05:06:10Z')) {
  const log = { info: jest.fn(), warn: jest.fn() };
  const clock = { now: () => at } as Clock;
  return { keys: new FailedKeyAttempts(log as unknown as Logger, clock), log, at };
}

describe('requests without a valid API key', () => {
  it('are logged at level info, each with its address and the reason', () => {
    const { keys, log } = badKeys();
    keys.note('192.0.2.7', FAULT);
    keys.note('2001:db8::1', FAULT);
    expect(log.info.mock.calls.map(([fields]) => fields as object)).toEqual([
      { address: '192.0.2.7', fault: FAULT },
      { address: '2001:db8::1', fault: FAULT },
    ]);
    expect(log.warn).not.toHaveBeenCalled();
  });

  it('are refused after sixty requests until the minute ends, with only one warning in the log', () => {
    const { keys, log, at } = badKeys();
    for (let n = 1; n < MAX_BAD_KEYS; n += 1) keys.note('192.0.2.7', FAULT);
    expect(keys.retryAfterSeconds('192.0.2.7')).toBeUndefined();
    keys.note('192.0.2.7', FAULT);
    keys.note('192.0.2.7', FAULT);
    expect(keys.retryAfterSeconds('192.0.2.7')).toBe(50);
    expect(keys.retryAfterSeconds('192.0.2.8')).toBeUndefined();
    expect(log.warn).toHaveBeenCalledTimes(1);
    at.setSeconds(60);
    expect(keys.retryAfterSeconds('192.0.2.7')).toBeUndefined();
  });

  it('are counted together for an IPv6 /64, and for both spellings of an IPv4 address', () => {
    const { keys } = badKeys();
    for (let n = 0; n < MAX_BAD_KEYS; n += 1) {
      keys.note(`2001:db8::${n.toString(16)}`, FAULT);
      keys.note(n % 2 ? '192.0.2.7' : '::ffff:192.0.2.7', FAULT);
    }
    expect(keys.retryAfterSeconds('2001:db8::ffff')).toBe(50);
    expect(keys.retryAfterSeconds('2001:db8:0:1::1')).toBeUndefined();
    expect(keys.retryAfterSeconds('192.0.2.7')).toBe(50);
  });
});
