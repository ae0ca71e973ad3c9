import { create } from '@bufbuild/protobuf';
import { CreateKeySchema } from '#contracts';
import { newId } from '#kernel';
import { COMMANDS, connectBus, type Bus } from '#messaging';
import { createLogger } from '#telemetry';
import { ApiClient, until, type ApiAnswer } from '#testing';
import { CommandClient } from '#transport';
import { keywordBody, startInterface, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';

let service: InterfaceUnderTest;
let secondUrl: string;
let bus: Bus;

beforeAll(async () => {
  service = await startInterface();
  secondUrl = await service.anotherGateway();
  bus = await connectBus(service.stores.natsUrl, 'spec', createLogger('spec', 'silent'));
});
afterAll(async () => {
  await bus?.close();
  await service?.stop();
});

/** Waits until enough of the minute is left for the rest of the test. */
async function untilTimeIsLeft(seconds = 12): Promise<void> {
  await until('a minute has begun', () => 60 - new Date().getUTCSeconds() > seconds, 20_000);
}

async function keyOf(tenant: Tenant, scope = 'write'): Promise<string> {
  const command = create(CreateKeySchema, {
    commandId: newId(),
    accountId: tenant.accountId,
    name: 'k',
    scope,
    expiresAt: '',
  });
  return (await new CommandClient(bus).request(COMMANDS.createKey, command)).apiKey;
}

const number = (answer: ApiAnswer, header: string) => Number(answer.headers[header]);
const count = (answers: readonly ApiAnswer[], status: number) =>
  answers.filter((answer) => answer.status === status).length;

describe('the request quota', () => {
  it('is shared by all keys of the account and all gateways [limits.quota]', async () => {
    const tenant = await service.tenant('free');
    const keys = [tenant.api.apiKey, await keyOf(tenant), await keyOf(tenant, 'read')];
    await untilTimeIsLeft();
    const answers = await Promise.all(
      Array.from({ length: 150 }, (_, n) =>
        new ApiClient(n % 2 ? service.url : secondUrl, keys[n % 3] ?? '').get('/v1/sources'),
      ),
    );
    expect([count(answers, 200), count(answers, 429)]).toEqual([60, 90]);
  });

  it('is reported in the headers `RateLimit` and `RateLimit-*`, and a refusal says when to retry [requests.rate-headers, errors.quota]', async () => {
    const tenant = await service.tenant('free');
    await untilTimeIsLeft();
    const first = await tenant.api.get('/v1/sources');
    const reset = number(first, 'ratelimit-reset');
    expect(reset).toBeGreaterThan(0);
    expect(reset).toBeLessThanOrEqual(60);
    expect(first.headers).toMatchObject({
      'ratelimit-policy': '"default";q=60;w=60',
      ratelimit: `"default";r=59;t=${reset}`,
      'ratelimit-limit': '60',
      'ratelimit-remaining': '59',
    });
    const answers = await Promise.all(Array.from({ length: 80 }, () => tenant.api.get('/v1/sources')));
    const refused = answers.find(({ status }) => status === 429) as ApiAnswer;
    const wait = number(refused, 'retry-after');
    expect(refused.body).toEqual({
      error: `the account's 60 requests of this minute are used up; the next minute begins in ${wait} s`,
      code: 'TOO_MANY_REQUESTS',
    });
    expect(refused.headers).toMatchObject({
      'ratelimit-policy': '"default";q=60;w=60',
      ratelimit: `"default";r=0;t=${wait}`,
      'ratelimit-limit': '60',
      'ratelimit-remaining': '0',
      'ratelimit-reset': String(wait),
    });
    expect(refused.headers['x-request-id']).toBeTruthy();
  });

  it('counts every answer, and applies before the body is parsed', async () => {
    const tenant = await service.tenant('free');
    const reader = new ApiClient(service.url, await keyOf(tenant, 'read'));
    await untilTimeIsLeft();
    const statuses = [
      (await tenant.api.get('/v1/nothing')).status,
      (await tenant.api.post('/v1/keywords', {})).status,
      (await tenant.api.call('POST', '/v1/keywords', '{')).status,
      (await reader.post('/v1/keywords', keywordBody())).status,
    ];
    expect(statuses).toEqual([404, 400, 400, 403]);
    expect(number(await tenant.api.get('/v1/sources'), 'ratelimit-remaining')).toBe(55);
    await Promise.all(Array.from({ length: 80 }, () => tenant.api.get('/v1/sources')));
    expect((await tenant.api.call('POST', '/v1/keywords', '{')).status).toBe(429);
    expect((await reader.post('/v1/keywords', keywordBody())).status).toBe(429);
  });

  it('is separate for each account: a flood of requests by one account does not affect another account', async () => {
    const [flood, other] = [await service.tenant('free'), await service.tenant('free')];
    await untilTimeIsLeft();
    const floods = Promise.all(Array.from({ length: 300 }, () => flood.api.get('/v1/sources')));
    const answers = await Promise.all(Array.from({ length: 60 }, () => other.api.get('/v1/sources')));
    expect(count(answers, 200)).toBe(60);
    expect(count(await floods, 200)).toBe(60);
  });

  it.each(['/v1/nothing', '/v1/', '/v1', '/v1/keywords/x', '/%761/keywords'])(
    'is not reported for %s without a valid key: the answer is 401',
    async (path) => {
      const answer = await new ApiClient(service.url, 'none').get(path);
      expect([answer.status, answer.body.code]).toEqual([401, 'UNAUTHORIZED']);
      expect(answer.headers['ratelimit-limit']).toBeUndefined();
    },
  );

  it.each(['/healthz', '/readyz', '/metrics'])('does not apply to %s, which needs no key', async (path) => {
    const answer = await new ApiClient(service.url, 'none').get(path);
    expect(answer.status).toBe(200);
    expect(answer.headers['ratelimit-limit']).toBeUndefined();
  });
});
