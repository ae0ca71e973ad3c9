import { errorText } from '../../apps/dashboard/parts/error-text.js';
import { EarshotConnectionError, EarshotError } from '#client';

const failed = (status: number, code: 'VALIDATION' | 'INTERNAL') =>
  new EarshotError('the code is wrong', { status, code, requestId: 'r1' });

describe('the text of an error for people', () => {
  it('has the id of the request if Earshot failed, but not if the request was refused', () => {
    expect(errorText(failed(500, 'INTERNAL'))).toMatchObject({ requestId: 'r1' });
    expect(errorText(failed(400, 'VALIDATION'))).toEqual({ message: 'the code is wrong', faults: [] });
  });

  it.each([0, 200, 302])('says what to do if another server answered, with the status %d', (status) => {
    const error = new EarshotError('HTTP 200: <!doctype html><h1>Sign in</h1>', { status, code: 'UNKNOWN' });
    expect(errorText(error).message).toContain('Reload the page');
  });

  it('says what to do when there is no answer', () => {
    expect(errorText(new EarshotConnectionError('fetch failed')).message).toContain('try again');
  });

  it('says that a change may have been made if no answer came, or if the first request is still running', () => {
    const unanswered = new EarshotConnectionError('no response', { canHaveHadEffect: true });
    const running = new EarshotError('is still running', { status: 409, code: 'IDEMPOTENCY_IN_PROGRESS' });
    for (const error of [unanswered, running])
      expect(errorText(error).message).toContain('can have carried out the request');
  });
});
