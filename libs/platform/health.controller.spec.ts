import type { ClickHouseClient } from '#clickhouse';
import type { Bus } from '#messaging';
import type { Database } from '#postgres';
import { fakeOnly } from '#testing';
import { HealthController } from './health.controller.js';

const hangs = () => new Promise<never>(() => undefined);
const fails = () => Promise.reject(new Error('refused'));

/** Returns the status and the body of /readyz, 2 s after the request. @param probes the probes that do not succeed */
async function answerAfterTwoSeconds(
  probes: Partial<Record<'nats' | 'postgres' | 'clickhouse', () => Promise<never>>>,
) {
  const bus = { nc: { rtt: probes.nats ?? (() => Promise.resolve(1)) } };
  const database = { query: probes.postgres ?? (() => Promise.resolve([])) };
  const clickhouse = { ping: probes.clickhouse ?? (() => Promise.resolve({ success: true })) };
  const controller = new HealthController(
    bus as unknown as Bus,
    database as unknown as Database,
    clickhouse as unknown as ClickHouseClient,
  );
  const status = jest.fn();
  let body: unknown;
  void controller.ready({ status }).then((answer) => (body = answer));
  await new Promise(setImmediate);
  jest.advanceTimersByTime(2_000);
  await new Promise(setImmediate);
  return { status: status.mock.lastCall?.[0] as unknown, body };
}

beforeEach(() => jest.useFakeTimers(fakeOnly('setTimeout', 'clearTimeout')));

describe('/readyz', () => {
  it('answers 200 if every store answers', async () => {
    expect(await answerAfterTwoSeconds({})).toEqual({
      status: 200,
      body: { status: 'ready', nats: true, postgres: true, clickhouse: true },
    });
  });

  it.each([
    ['nats', 503, 'not ready'],
    ['postgres', 503, 'not ready'],
    ['clickhouse', 200, 'degraded'],
  ])(
    'names %s within two seconds if this store hangs or fails, and answers %i',
    async (store, status, word) => {
      const answer = {
        status,
        body: { status: word, nats: true, postgres: true, clickhouse: true, [store]: false },
      };
      expect(await answerAfterTwoSeconds({ [store]: fails })).toEqual(answer);
      expect(await answerAfterTwoSeconds({ [store]: hangs })).toEqual(answer);
    },
  );

  it('names ClickHouse if ClickHouse reports that it is not ready', async () => {
    const refused = () => Promise.resolve({ success: false, error: new Error('refused') } as never);
    expect(await answerAfterTwoSeconds({ clickhouse: refused })).toMatchObject({
      status: 200,
      body: { status: 'degraded', clickhouse: false },
    });
  });
});
