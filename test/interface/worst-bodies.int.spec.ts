import { request } from 'undici';
import { WORST_BODIES } from '../../bench/bodies/worst-bodies.js';
import { startInterface, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';

let service: InterfaceUnderTest;
let tenant: Tenant;

beforeAll(async () => {
  service = await startInterface();
  tenant = await service.tenant();
});
afterAll(() => service?.stop());

it.each(Object.entries(WORST_BODIES))(
  'the gateway returns at most 50 faults for a hostile body: %s',
  async (_, body) => {
    const { status, body: answer, text } = await tenant.api.post('/v1/keywords', body);
    // A few of these bodies are large but valid.
    if (status === 201) return;
    expect([400, 413]).toContain(status);
    expect(answer.details.length).toBeLessThanOrEqual(50);
    expect(text.length).toBeLessThan(64 * 1024);
    const { message, path } = answer.details[0];
    expect(answer.error.startsWith(path === '' ? message : `${path}: ${message}`)).toBe(true);
  },
);

it('the gateway names a list that is too long, and does not read the elements of this list', async () => {
  const { body } = await tenant.api.post('/v1/keywords', WORST_BODIES['half a million numbers as sources']);
  expect(body).toEqual({
    error: 'sources: has more than 1000 elements, the maximum of a list',
    code: 'VALIDATION',
    details: [{ path: 'sources', message: 'has more than 1000 elements, the maximum of a list' }],
  });
});

it('the gateway refuses a list that is longer than the API allows, and does not check its elements', async () => {
  const rules = Array.from({ length: 21 }, () => ({ name: '', when: 5 }));
  const { body } = await tenant.api.post('/v1/keywords', {
    name: 'Acme',
    refresh_interval_seconds: 600,
    global_criteria: { market: 'global', query: 'acme' },
    sources: [{ source: 'hackernews', enabled: true }],
    rules,
  });
  expect(body.details).toEqual([{ path: 'rules', message: 'must contain at most 20 elements' }]);
});

it('the limit of 50 faults applies even to the refusal of an estimate', async () => {
  const { status, body } = await tenant.api.post(
    '/v1/keywords/estimate',
    WORST_BODIES['a tree of faults with as many searches as a source can have'],
  );
  expect([status, body.valid, body.refusal.status]).toEqual([200, false, 400]);
  expect(body.refusal.details).toHaveLength(50);
  expect(body.refusal.message).toMatch(/\(1 of \d{4} faults; details has the first 50\)$/);
});

it('an Idempotency-Key can be used again if the body was refused for a list that is too long', async () => {
  const post = async (body: string) => {
    const answer = await request(`${service.url}/v1/keywords/estimate`, {
      method: 'POST',
      headers: {
        'x-api-key': tenant.api.apiKey,
        'content-type': 'application/json',
        'idempotency-key': 'large',
      },
      body,
    });
    await answer.body.dump();
    return [answer.statusCode, answer.headers['idempotency-replayed']];
  };
  expect(await post(WORST_BODIES['empty texts as mutes'] ?? '')).toEqual([400, undefined]);
  expect(await post('{}')).toEqual([200, undefined]);
});
