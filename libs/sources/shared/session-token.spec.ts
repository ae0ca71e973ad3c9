import { askWithToken, sessionToken } from './session-token.js';
import { UpstreamError } from '../source.js';

/** Makes tokens with the numbers 1, 2, 3. Making the first `failing` tokens fails. */
function numbered(failing = 0) {
  const made: number[] = [];
  const make = () => {
    made.push(made.length + 1);
    return made.length <= failing ? Promise.reject(new Error('no')) : Promise.resolve(made.length);
  };
  return { made, token: { session: new Map<string, unknown>(), key: 'spec', make } };
}

const refusal = () => Promise.reject(new UpstreamError('unauthorized', 'it has ended', 401));

describe('a token of the session', () => {
  it('is made once for reads that start together and for later reads', async () => {
    const { made, token } = numbered();
    expect(await Promise.all([sessionToken(token), sessionToken(token)])).toEqual([1, 1]);
    expect([await sessionToken(token), made.length]).toEqual([1, 1]);
  });

  it('is renewed once, for all reads, if it expires soon', async () => {
    const { made, token } = numbered();
    const ending = { ...token, isGood: (value: number) => value > 1 };
    await sessionToken(token);
    expect(await Promise.all([sessionToken(ending), sessionToken(ending)])).toEqual([2, 2]);
    expect(made.length).toBe(2);
  });

  it('is requested again after a request that failed', async () => {
    const { token } = numbered(1);
    await expect(sessionToken(token)).rejects.toThrow('no');
    expect(await sessionToken(token)).toBe(2);
  });

  it('is renewed only once if several requests with it are refused', async () => {
    const { made, token } = numbered();
    const ask = (value: number) => (value === 1 ? refusal() : Promise.resolve(value));
    expect(await Promise.all([askWithToken(token, ask), askWithToken(token, ask)])).toEqual([2, 2]);
    expect(made.length).toBe(2);
    await expect(askWithToken(token, refusal)).rejects.toThrow('it has ended');
    expect(made.length).toBe(3);
  });

  it('is kept after an error that is not a refusal', async () => {
    const { made, token } = numbered();
    await expect(askWithToken(token, () => Promise.reject(new Error('down')))).rejects.toThrow('down');
    expect([await sessionToken(token), made.length]).toEqual([1, 1]);
  });
});
