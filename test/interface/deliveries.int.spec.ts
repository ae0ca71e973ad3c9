import { create, toBinary } from '@bufbuild/protobuf';
import { AttemptSchema } from '#contracts';
import { isoOf, newId } from '#kernel';
import { subjectOf } from '#messaging';
import { until, type Json } from '#testing';
import { receivedRequests } from '../../apps/delivery/testing/delivery-under-test.js';
import { startDeliveries, type DeliveriesUnderTest } from './deliveries-under-test.js';
import { endpointTasks } from './endpoint-tasks.js';

let setup: DeliveriesUnderTest;

beforeAll(async () => {
  setup = await startDeliveries();
});
afterAll(() => setup?.stop());
beforeEach(() => {
  setup.receiver.received.length = 0;
  setup.receiver.answers.clear();
});

const url = (path: string) => `${setup.receiver.url}${path}`;
/** Waits until the list of deliveries shows this number of attempts. */
const deliveries = (query: string, attempts: number): Promise<Json[]> =>
  until(`${attempts} attempts are shown`, async () => {
    const { body } = await setup.ada.api.get(`/v1/deliveries?${query}`);
    const shown = body.data.flatMap((one: Json) => one.attempts).length;
    return shown >= attempts && body.data;
  });

describe('the list of deliveries', () => {
  it('shows each delivery with its attempts and its state [deliveries.list]', async () => {
    const keyword = await setup.keyword('/list?token=1');
    setup.receiver.answers.set('/list?token=1', { status: 500 });
    const [event] = await setup.events(keyword, 1);
    const [retrying] = await deliveries(`keyword=${keyword.keywordId}`, 1);
    expect(retrying).toMatchObject({
      eventId: event?.id,
      keywordId: keyword.keywordId,
      watchId: keyword.watchId,
      endpoint: url('/list'),
      target: { kind: 'webhook' },
      state: 'retrying',
      attempts: [{ number: 1, delivered: false, statusCode: 500, message: 'the endpoint answered 500' }],
    });
    expect(Date.parse(retrying.nextAttemptAt) - Date.now()).toBeGreaterThan(20_000);
    setup.receiver.answers.clear();
    await setup.database.query("UPDATE pending_deliveries SET due_at = now() - interval '1 second'");
    const [delivered] = await deliveries(`keyword=${keyword.keywordId}`, 2);
    expect(delivered).toMatchObject({ state: 'delivered', nextAttemptAt: null });
    expect(delivered.attempts.map(({ number, statusCode }: Json) => [number, statusCode])).toEqual([
      [1, 500],
      [2, 200],
    ]);
    const counts = async (query: string) =>
      (await setup.ada.api.get(`/v1/deliveries?keyword=${keyword.keywordId}&${query}`)).body.data.length;
    expect(await counts('state=delivered')).toBe(1);
    expect(await counts('state=retrying')).toBe(0);
    expect(await counts(`watch=${keyword.watchId}`)).toBe(1);
    expect(await counts(`endpoint=${encodeURIComponent(url('/list?token=2'))}`)).toBe(1);
    expect(await counts(`endpoint=${encodeURIComponent(url('/other'))}`)).toBe(0);
    expect(await counts(`since=${new Date(Date.now() + 60_000).toISOString()}`)).toBe(0);
  });

  it('shows no delivery of a purged keyword while ClickHouse still stores its attempts', async () => {
    const keyword = await setup.keyword('/purged');
    await setup.events(keyword, 1);
    await deliveries(`keyword=${keyword.keywordId}`, 1);
    await setup.database.query('INSERT INTO purged_keywords (keyword_id, account_id) VALUES ($1, $2)', [
      keyword.keywordId,
      setup.ada.accountId,
    ]);
    expect((await setup.ada.api.get(`/v1/deliveries?watch=${keyword.watchId}`)).body.data).toEqual([]);
  });

  it('returns each delivery exactly once across the pages', async () => {
    const keyword = await setup.keyword('/paged');
    const events = await setup.events(keyword, 7);
    await deliveries(`keyword=${keyword.keywordId}`, 7);
    const all = await setup.ada.api.all(`/v1/deliveries?keyword=${keyword.keywordId}&limit=3`);
    expect(all.map(({ eventId }) => eventId).sort()).toEqual(events.map(({ id }) => id).sort());
  });

  it('shows attempts that an older version recorded without a target', async () => {
    const keyword = await setup.keyword(null);
    const eventId = newId();
    const attempt = create(AttemptSchema, {
      attemptId: newId(),
      accountId: setup.ada.accountId,
      ...keyword,
      source: 'hackernews',
      eventId,
      endpoint: 'https://example.org/hook',
      number: 1,
      at: isoOf(Date.now()),
      statusCode: 500,
      message: 'the endpoint answered 500',
    });
    const subject = subjectOf('ATTEMPTS', setup.ada.accountId, keyword.watchId);
    await setup.store.publish(subject, toBinary(AttemptSchema, attempt), attempt.attemptId);
    const [shown] = await deliveries(`keyword=${keyword.keywordId}`, 1);
    expect(shown).toMatchObject({
      eventId,
      state: 'given_up',
      endpoint: 'https://example.org/hook',
      target: { kind: 'webhook' },
    });
  });

  it('shows every attempt if one message of the stream contains several attempts', async () => {
    const keyword = await setup.keyword(null);
    const attempts = [1, 2, 3].map((number) => ({
      attemptId: newId(),
      accountId: setup.ada.accountId,
      ...keyword,
      source: 'hackernews',
      eventId: newId(),
      endpoint: 'https://example.org/hook',
      number,
      at: isoOf(Date.now() + number),
      statusCode: 200,
      delivered: true,
      targetKind: 'webhook',
      targetId: newId(),
    }));
    const subject = subjectOf('ATTEMPTS', setup.ada.accountId, keyword.watchId);
    const group = toBinary(AttemptSchema, create(AttemptSchema, { attempts }));
    // The server refuses a repeated message id only for a limited time, so the same group can be stored twice. This test
    // stores it under two ids. No row must be returned twice.
    for (const messageId of [newId(), newId()]) await setup.store.publish(subject, group, messageId);
    const [, , last] = attempts;
    await setup.store.publish(
      subject,
      toBinary(AttemptSchema, create(AttemptSchema, { ...last, attemptId: newId(), number: 4 })),
      newId(),
    );
    const shown = await until('the attempt after the group is shown', async () => {
      const { body } = await setup.ada.api.get(`/v1/deliveries?keyword=${keyword.keywordId}`);
      return body.data.some((one: Json) => one.attempts.length === 2) && body.data;
    });
    expect(shown.map((one: Json) => [one.eventId, one.attempts.length])).toEqual(
      [...attempts].reverse().map(({ eventId }) => [eventId, eventId === last?.eventId ? 2 : 1]),
    );
    const lines = await until('the four attempts are in the activity', async () => {
      const { body } = await setup.ada.api.get(`/v1/keywords/${keyword.keywordId}/activity`);
      const delivered = body.activity.filter(({ type }: Json) => type === 'webhook.delivered');
      return delivered.length >= 4 && delivered;
    });
    expect(lines.length).toBe(4);
  });

  it('shows the same reason for a failed attempt as the activity', async () => {
    // Nothing listens on the discard port.
    const keyword = await setup.keyword(null, { webhook_url: 'http://127.0.0.1:9/hook' });
    const [event] = await setup.events(keyword, 1);
    const [delivery] = await deliveries(`keyword=${keyword.keywordId}`, 1);
    const [attempt] = (await setup.attempts()).filter(({ eventId }) => eventId === event?.id);
    expect(delivery.attempts).toMatchObject([{ statusCode: null, message: attempt?.message }]);
    const line = await until('the attempt is in the activity', async () => {
      const { body } = await setup.ada.api.get(`/v1/keywords/${keyword.keywordId}/activity`);
      return body.activity.find(({ eventId }: Json) => eventId === event?.id);
    });
    expect(line.type).toBe('webhook.failed');
    expect(line.message).toBe(`${attempt?.message}; retried at ${attempt?.nextAttemptAt}`);
    const tested = await setup.ada.api.post('/v1/webhooks/test', { url: 'http://127.0.0.1:9/hook' });
    expect(tested.body.message).toBe(attempt?.message);
  });

  it('contains no delivery of another account, and refuses unknown parameters and invalid values', async () => {
    const eve = await setup.service.tenant();
    expect((await eve.api.get('/v1/deliveries')).body).toEqual({ data: [] });
    for (const query of ['keyword=x', 'state=lost', 'since=soon', 'endpoint=x', 'nonsense=1'])
      expect((await setup.ada.api.get(`/v1/deliveries?${query}`)).status).toBe(400);
  });
});

describe('an event that is sent again', () => {
  it('is sent to the current webhook or to the given address, as a separate delivery [deliveries.resend]', async () => {
    const keyword = await setup.keyword('/again');
    const [event] = await setup.events(keyword, 1);
    await receivedRequests(setup.receiver, '/again', 1);
    await deliveries(`keyword=${keyword.keywordId}`, 1);
    const path = `/v1/deliveries/${event?.id}/resend`;
    const own = await until('the index contains the event', async () => {
      const answer = await setup.ada.api.post(path, {});
      return answer.status === 202 && answer;
    });
    expect(own.body).toMatchObject({ eventId: event?.id, endpoint: url('/again') });
    const [, second] = await receivedRequests(setup.receiver, '/again', 2);
    expect(second?.body.equals(event?.bytes ?? Buffer.alloc(0))).toBe(true);
    expect([second?.headers['webhook-id'], second?.headers['x-replay']]).toEqual([event?.id, undefined]);
    setup.receiver.answers.set('/named', { status: 500 });
    expect((await setup.ada.api.post(path, { url: url('/named') })).status).toBe(202);
    await receivedRequests(setup.receiver, '/named', 1);
    const shown = await deliveries(`keyword=${keyword.keywordId}`, 3);
    expect(shown.map(({ target, state }) => [target.kind, state]).sort()).toEqual([
      ['resend', 'delivered'],
      ['resend', 'retrying'],
      ['webhook', 'delivered'],
    ]);
  });

  it('returns 404 for an unknown event, and 400 without an address or with a private address', async () => {
    const keyword = await setup.keyword(null);
    const [event] = await setup.events(keyword, 1);
    const path = `/v1/deliveries/${event?.id}/resend`;
    const none = await until('the index contains the event', async () => {
      const answer = await setup.ada.api.post(path, {});
      return answer.status !== 404 && answer;
    });
    expect([none.status, none.body.details[0].path]).toEqual([400, 'url']);
    expect((await setup.ada.api.post(path, { url: 'http://169.254.169.254/' })).status).toBe(400);
    const eve = await setup.service.tenant();
    expect((await eve.api.post(path, { url: url('/eve') })).status).toBe(404);
    expect((await setup.ada.api.post(`/v1/deliveries/${newId()}/resend`, {})).status).toBe(404);
  });
});

describe('resends', () => {
  it('are refused with 429 while 200 resends of the account wait, even if many arrive at the same time', async () => {
    setup.receiver.answers.set('/storm', { status: 500 });
    const keyword = await setup.keyword('/storm');
    const [event] = await setup.events(keyword, 1);
    const path = `/v1/deliveries/${event?.id}/resend`;
    await until(
      'the index contains the event',
      async () => (await setup.ada.api.post(path, {})).status === 202,
    );
    await setup.database.query(
      `INSERT INTO pending_deliveries (event_id, target_kind, target_id, account_id, watch_id, source, endpoint, body, attempts,
         first_at, due_at)
       SELECT gen_random_uuid(), 'resend', gen_random_uuid(), $1, $2, 'hackernews', $3, '', 1, now(), now() + interval '1 hour'
       FROM generate_series(1, 199 - (SELECT count(*)::int FROM pending_deliveries WHERE account_id = $1 AND target_kind = 'resend'))`,
      [setup.ada.accountId, keyword.watchId, url('/storm')],
    );
    const answers = await Promise.all(Array.from({ length: 4 }, () => setup.ada.api.post(path, {})));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 429, 429, 429]);
    await setup.database.query('DELETE FROM pending_deliveries WHERE watch_id = $1', [keyword.watchId]);
    expect((await setup.ada.api.post(path, {})).status).toBe(202);
  });
});

endpointTasks(() => setup, url);
