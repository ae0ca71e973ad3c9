import { loggedError } from './index.js';

it('logs an error with its stack, and an expected error with only its type and message', () => {
  const isExpected = (error: unknown) => error instanceof RangeError;
  const expected = new RangeError('too far', { cause: new Error('inner') });
  expect(loggedError(expected, isExpected)).toEqual({ type: 'RangeError', message: 'too far' });
  const unexpected = loggedError(new TypeError('wrong'), isExpected);
  expect(unexpected).toMatchObject({
    type: 'TypeError',
    message: 'wrong',
    stack: expect.stringContaining('logger.spec') as string,
  });
});
