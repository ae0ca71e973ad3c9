import { createHmac } from 'node:crypto';
import { toBinary } from '@bufbuild/protobuf';
import { EventSchema, KEYWORD_EVENT_TYPES } from '#contracts';
import { subjectOf } from '#messaging';
import { until, type Json } from '#testing';
import { receivedRequests } from '../../apps/delivery/testing/delivery-under-test.js';
import { replayFaultTasks } from './replay-fault-tasks.js';
import { ofEachKind, ReplaysScene, since } from './replays-scene.js';

const ID = '0190a0b0-0000-7000-8000-0000000000b1';
const scene = new ReplaysScene();
const { replay, requestsOf, idsOn, url } = scene;

beforeAll(() => scene.start());
afterAll(() => scene.stop());
beforeEach(() => scene.clear());

describe('a replay', () => {
  it('sends the stored bytes again in order of occurredAt, with a new signature and its id in X-Replay [replays.create, replays.order, replays.lists, replays.activity]', async () => {
    const keyword = await scene.setup.keyword('/own');
    const events = await scene.setup.events(keyword, 12);
    await scene.setup.events(keyword, 2, { push: false });
    await receivedRequests(scene.setup.receiver, '/own', 12);
    const { id, ...rest } = await replay({ keyword_id: keyword.keywordId });
    expect(rest).toMatchObject({
      status: 'queued',
      keywordId: keyword.keywordId,
      watchId: null,
      url: url('/own'),
      finishedAt: null,
    });
    const ended = await scene.setup.ended(id);
    expect(ended).toMatchObject({
      status: 'done',
      matched: 12,
      sent: 12,
      failed: 0,
      missing: 0,
      message: null,
    });
    const requests = requestsOf('/own', id);
    expect(requests.map(({ headers }) => headers['webhook-id'])).toEqual(events.map((event) => event.id));
    expect(requests.every(({ body }, n) => body.equals(events[n]?.bytes ?? Buffer.alloc(0)))).toBe(true);
    const secret = await scene.setup.secret();
    for (const { headers, body } of requests) {
      const [, t = '', v1] = /^t=(\d+),v1=(.+)$/.exec(String(headers['x-signature'])) ?? [];
      expect(v1).toBe(createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex'));
      expect(Math.abs(Date.now() / 1000 - Number(t))).toBeLessThan(60);
    }
    const activity = await until('its attempts are in the activity', async () => {
      const { body } = await scene.setup.ada.api.get(`/v1/keywords/${keyword.keywordId}/activity`);
      const found = body.activity.filter(({ type }: Json) => type === 'webhook.delivered');
      return found.length === 24 && found;
    });
    expect(new Set(activity.map(({ eventId }: Json) => eventId)).size).toBe(12);
    expect((await scene.setup.ada.api.get(`/v1/replays?keyword=${keyword.keywordId}`)).body.data[0]).toEqual(
      ended,
    );
  });

  it('also sends the events about the keyword itself, if the keyword subscribes to them [events.keyword-level, alerts.activity]', async () => {
    const all = { webhook_events: [...KEYWORD_EVENT_TYPES] };
    const { keywordId } = await scene.setup.keyword('/kinds', all);
    const silent = await scene.setup.keyword('/silent', {
      global_criteria: { market: 'global', query: 'silent' },
    });
    const made = [silent.keywordId, keywordId].flatMap((id) => ofEachKind(scene.setup.ada.accountId, id));
    await scene.setup.store.publishAll(
      made.map((event) => ({
        subject: subjectOf('EVENTS', event.accountId, event.watchId),
        data: toBinary(EventSchema, event),
        msgId: event.eventId,
      })),
    );
    await receivedRequests(scene.setup.receiver, '/kinds', 5);
    const bytes = made
      .filter((event) => event.keywordId === keywordId)
      .map(({ envelope }) => Buffer.from(envelope).toString())
      .sort();
    const stored = await until('they are stored', async () => {
      const { body } = await scene.setup.ada.api.get(`/v1/keywords/${keywordId}/events`);
      return body.data.length === 5 && (body.data as object[]);
    });
    expect(stored.map((event) => JSON.stringify(event)).sort()).toEqual(bytes);
    const lines = await until('they are in the activity', async () => {
      const { body } = await scene.setup.ada.api.get(`/v1/keywords/${keywordId}/activity`);
      const types = new Set(body.activity.map(({ type }: Json) => type as string));
      return types.size >= 5 && types;
    });
    // The handler that publishes `channel.disabled` also writes its activity line. Here the test publishes the event.
    const own = KEYWORD_EVENT_TYPES.filter((type) => type !== 'channel.disabled');
    expect([...lines].sort()).toEqual([...own, 'webhook.delivered'].sort());
    const { id } = await replay({ keyword_id: keywordId });
    expect(await scene.setup.ended(id)).toMatchObject({ status: 'done', matched: 5, sent: 5, missing: 0 });
    expect(
      requestsOf('/kinds', id)
        .map(({ body }) => body.toString())
        .sort(),
    ).toEqual(bytes);
    expect(scene.setup.receiver.received.filter(({ path }) => path === '/silent')).toEqual([]);
  });

  it('can send events of a retired keyword, only of some types and times, to another address [replays.retired]', async () => {
    const keyword = await scene.setup.keyword(null);
    await scene.setup.events(keyword, 3, { secondsAgo: 5000 });
    const [wanted] = await scene.setup.events(keyword, 1, { secondsAgo: 600 });
    await scene.setup.events(keyword, 1, { secondsAgo: 500, type: 'post.created' });
    await scene.setup.ada.api.delete(`/v1/keywords/${keyword.keywordId}`);
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    const { id } = await replay({
      watch_id: keyword.watchId,
      since: minutesAgo(20),
      until: minutesAgo(5),
      types: ['hn_item.created'],
      url: url('/elsewhere'),
    });
    expect(await scene.setup.ended(id)).toMatchObject({ status: 'done', matched: 1, sent: 1 });
    expect(idsOn('/elsewhere', id)).toEqual([wanted?.id]);
  });

  it('does not exceed its rate', async () => {
    const keyword = await scene.setup.keyword(null);
    await scene.setup.events(keyword, 7);
    const { id } = await replay({
      keyword_id: keyword.keywordId,
      url: url('/slowly'),
      rate_per_second: 3,
    });
    const started = await until(
      'the first event has arrived',
      () => requestsOf('/slowly', id).length > 0 && Date.now(),
    );
    await scene.setup.ended(id);
    // Seven events at three per second: the last event arrives at least two seconds after the first event.
    expect(Date.now() - started).toBeGreaterThan(1700);
  });
});

replayFaultTasks(scene);

describe('a replay', () => {
  it('is free, listed page by page, and hidden from other accounts [replays.free, replays.lists]', async () => {
    const keyword = await scene.setup.keyword(null);
    await scene.setup.events(keyword, 1);
    const made: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const { id } = await replay({ keyword_id: keyword.keywordId, url: url('/listed') });
      made.unshift(id);
      await scene.setup.ended(id);
    }
    const listed = await scene.setup.ada.api.all(`/v1/replays?keyword=${keyword.keywordId}&limit=2`);
    expect(listed.map(({ id }) => id)).toEqual(made);
    const eve = await scene.setup.service.tenant();
    for (const answer of [
      await eve.api.get(`/v1/replays/${made[0]}`),
      await eve.api.delete(`/v1/replays/${made[0]}`),
      await eve.api.post('/v1/replays', {
        since: since(),
        keyword_id: keyword.keywordId,
        url: url('/eve'),
      }),
      await eve.api.post('/v1/replays', { since: since(), watch_id: keyword.watchId, url: url('/eve') }),
    ])
      expect([answer.status, answer.body.code]).toEqual([404, 'NOT_FOUND']);
    expect((await eve.api.get('/v1/replays')).body).toEqual({ data: [] });
    expect((await scene.setup.ada.api.get('/v1/credits/ledger?kind=charge')).body.data).toEqual([]);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['neither keyword nor watch', {}, 'keyword_id'],
    ['both keyword and watch', { keyword_id: ID, watch_id: ID }, 'watch_id'],
    ['no beginning', { since: undefined, keyword_id: ID }, 'since'],
    ['a beginning that is not a time', { since: 'yesterday', keyword_id: ID }, 'since'],
    ['an end before the beginning', { until: '2020-01-01', keyword_id: 'own' }, 'since'],
    ['an unknown type', { types: ['hn.created'], keyword_id: ID }, 'types'],
    ['a rate of 0', { rate_per_second: 0, keyword_id: ID }, 'rate_per_second'],
    ['a private address', { url: 'http://10.0.0.1/', keyword_id: ID }, 'url'],
    ['no address at all', { keyword_id: 'own' }, 'url'],
  ])('returns 400 with the name of the field if it is requested with %s', async (_, body, path) => {
    const own = body.keyword_id === 'own' ? (await scene.setup.keyword(null)).keywordId : body.keyword_id;
    const extra = path === 'since' && body.until ? { url: url('/x') } : {};
    const answer = await scene.setup.ada.api.post('/v1/replays', {
      since: since(),
      ...body,
      ...extra,
      ...(own ? { keyword_id: own } : {}),
    });
    expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION']);
    expect(answer.body.details.map((fault: Json) => fault.path)).toEqual([path]);
  });
});
