import { createStackoverflowConnector } from './index.js';
import { wrapped } from './testing/fixtures.js';
import { read } from './testing/search.js';

describe('waits and faults of Stack Exchange:', () => {
  it('a wait that a successful response asks for is passed to the lane', async () => {
    const answers = () => wrapped([], { backoff: 12 });
    const { heldOff } = await read({ query: 'lamp' }, { answers, more: { match: 'platform' } });
    expect(heldOff).toEqual([{ waitMs: 12_000, reason: 'stackoverflow asked to wait 12 s' }]);
  });

  it('a response that reports no remaining requests closes the quota until midnight UTC', async () => {
    const answers = () => wrapped([], { quota_remaining: 0 });
    const { heldOff } = await read({ query: 'lamp' }, { answers, more: { match: 'platform' } });
    expect(heldOff).toEqual([
      {
        waitMs: 12 * 3_600_000,
        reason: 'the requests that stackoverflow allows a day are used up',
        quota: 'requests',
      },
    ]);
  });

  it.each([
    [
      'throttle_violation',
      'too many requests from this IP, more requests available in 74 seconds',
      'rate_limited',
      'stackoverflow answered 400 (throttle_violation): too many requests, asked to wait 74 s',
      74_000,
    ],
    [
      'throttle_violation',
      'more requests available in 999999 seconds',
      'rate_limited',
      'stackoverflow answered 400 (throttle_violation): too many requests, asked to wait 86400 s',
      86_400_000,
    ],
    [
      'throttle_violation',
      'Violation of backoff parameter',
      'rate_limited',
      'stackoverflow answered 400 (throttle_violation): too many requests, asked to wait',
      undefined,
    ],
    [
      'access_denied',
      'page above 25 requires access token or app key',
      'forbidden',
      'stackoverflow answered 400 (access_denied): this request requires a key; set SOURCE_STACKOVERFLOW_TOKEN',
      undefined,
    ],
    [
      'access_token_required',
      'This method requires an access token',
      'unauthorized',
      'stackoverflow answered 400 (access_token_required): it requires a sign-in; set SOURCE_STACKOVERFLOW_TOKEN',
      undefined,
    ],
    [
      'bad_parameter',
      'pagesize',
      'unexpected_status',
      'stackoverflow answered 400 (bad_parameter): a parameter was not understood (pagesize)',
      undefined,
    ],
    [
      'bad_parameter',
      'No site found for name `lamps`',
      'not_found',
      'stackoverflow answered 400 (bad_parameter): there is no such site; check filters.site',
      undefined,
    ],
    [
      'no_method',
      'no method found with this name',
      'unexpected_status',
      'stackoverflow answered 400 (no_method): the request was not understood',
      undefined,
    ],
    [
      'temporarily_unavailable',
      'x',
      'server_error',
      'stackoverflow answered 400 (temporarily_unavailable): the upstream failed; Earshot tries again later',
      undefined,
    ],
    [
      '<script>',
      'x',
      'unexpected_status',
      'stackoverflow answered 400: the request was not understood',
      undefined,
    ],
  ])(
    'the error %s with the message "%s" has the kind "%s"',
    async (error_name, error_message, kind, message, retryAfterMs) => {
      const answers = () => ({ status: 400, body: { error_id: 1, error_name, error_message } });
      const reading = read({ query: 'lamp' }, { answers });
      await expect(reading).rejects.toMatchObject({ kind, message, retryAfterMs, statusCode: 400 });
    },
  );

  it('the error of a refused key names the setting to check', async () => {
    const answers = () => ({
      status: 400,
      body: {
        error_id: 400,
        error_name: 'bad_parameter',
        error_message: "`key` doesn't match a known application",
      },
    });
    const of = createStackoverflowConnector({ key: 'k1' });
    await expect(read({ query: 'lamp' }, { answers, of })).rejects.toMatchObject({
      kind: 'unauthorized',
      message:
        'stackoverflow answered 400 (bad_parameter): the key was not accepted; check SOURCE_STACKOVERFLOW_TOKEN',
    });
  });
});
