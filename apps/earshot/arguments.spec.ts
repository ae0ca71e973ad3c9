import { Refusal } from '#kernel';
import { failureText, instant } from './arguments.js';

it('the command line prints each faulty option of a refusal on its own line', () => {
  const details = [
    { path: 'plan', message: 'must be one of free, solo' },
    { path: 'signature_version', message: 'must be one of v1, legacy' },
    { path: '', message: 'too large' },
  ];
  const refusal = new Refusal(
    'invalid',
    'VALIDATION',
    'plan: … (1 of 3 faults; details has them all)',
    details,
  );
  expect(failureText(refusal)).toBe(
    '--plan: must be one of free, solo\n--signature-version: must be one of v1, legacy\ntoo large',
  );
});

it.each([
  ['2026-12-31T12:00:00+02:00', '2026-12-31T10:00:00.000Z'],
  ['2026-12-31', '2026-12-31T00:00:00.000Z'],
  ['2026-12-31T12:00:00', '2026-12-31T12:00:00.000Z'],
])('the command line accepts the ISO 8601 time %s', (text, canonical) => {
  expect(instant(text)).toBe(canonical);
});

it.each([
  '1',
  'December 2026',
  '2026-02-30',
  '2026-13-01',
  '2026-W10',
  '2026-012',
  '9999-12-31T23:00:00-02:00',
])('the command line refuses %s, which is not an ISO 8601 time', (text) => {
  expect(() => instant(text)).toThrow('It must be ISO 8601');
});

it('the command line prints the message of a failure that names no faulty option', () => {
  expect(failureText(Refusal.notFound('account'))).toBe('account not found');
  expect(failureText(new Error('no'))).toBe('no');
});
