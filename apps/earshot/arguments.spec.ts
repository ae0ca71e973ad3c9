import { Refusal } from '#kernel';
import { failureText } from './arguments.js';

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

it('the command line prints the message of any other failure', () => {
  expect(failureText(Refusal.notFound('account'))).toBe('account not found');
  expect(failureText(new Error('no'))).toBe('no');
});
