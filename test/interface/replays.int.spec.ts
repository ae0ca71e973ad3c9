import { createHmac } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { selectRows } from '#clickhouse';
import {
  AlertDecisionSchema,
  DigestAssembledSchema,
  EventSchema,
  KEYWORD_EVENT_TYPES,
  KeywordDecisionSchema,
  type Event,
} from '#contracts';
import { newId } from '#kernel';
import { subjectOf } from '#messaging';
import { until, type Json } from '#testing';
import {
  alertEventsOf,
  channelDisabledOf,
  keywordEventsOf,
  reportReadyOf,
} from '../../apps/analysis/domain/keyword-event-of.js';
import { gotten } from '../../apps/delivery/testing/delivery-under-test.js';
import { startQuietServices } from './quiet-services.js';
import { startDeliveries, type DeliveriesUnderTest } from './deliveries-under-test.js';

const ID = '0190a0b0-0000-7000-8000-0000000000b1';
let on: DeliveriesUnderTest;

beforeAll(async () => {
  on = await startDeliveries();
});
afterAll(() => on?.stop());
beforeEach(() => {
  on.receiver.received.length = 0;
  on.receiver.answers.clear();
});

const since = () => new Date(Date.now() - 2 * 3_600_000).toISOString();
const replay = async (body: Record<string, unknown>): Promise<Json> => {
  const answer = await on.ada.api.post('/v1/replays', { since: since(), ...body });
  expect([answer.text, answer.status]).toEqual([answer.text, 202]);
  return answer.body;
};
/** The requests on the path that belong to the replay. */
const through = (path: string, replayId: string) =>
  on.receiver.received.filter((one) => one.path === path && one.headers['x-replay'] === replayId);
const idsOn = (path: string, replayId: string) =>
  through(path, replayId).map(({ headers }) => headers['webhook-id']);
const url = (path: string) => `${on.receiver.url}${path}`;

/** An event of each kind of the keyword itself, as analysis makes them. */
function ofEachKind(keywordId: string): Event[] {
  const { accountId } = on.ada;
  const at = new Date(Date.now() - 60_000).toISOString();
  const reason = { reason: 'user', creditsRemaining: 7 };
  return [
    ...keywordEventsOf(
      create(KeywordDecisionSchema, {
        ...{ commandId: newId(), accountId, subjectId: keywordId, decidedAt: at },
        events: [
          { event: { case: 'keywordPaused', value: { ...reason, stopped: true } } },
          { event: { case: 'keywordResumed', value: { ...reason, running: true } } },
        ],
      }),
    ),
    ...alertEventsOf(
      create(AlertDecisionSchema, {
        ...{ accountId, keywordId, decidedAt: at },
        events: [
          {
            event: {
              case: 'fired',
              value: {
                ...{ alertId: newId(), kind: 'spike', level: 'low', observed: 9 },
                ...{ windowFrom: at, windowTo: at, suppressedUntil: at },
              },
            },
          },
        ],
      }),
    ),
    ...reportReadyOf(
      create(DigestAssembledSchema, {
        ...{ accountId, keywordId, digestId: newId(), assembledAt: at, periodFrom: at, periodTo: at },
        reportUrl: 'https://a.example/reports/x',
      }),
    ),
    channelDisabledOf(newId(), { accountId, keywordId }, at, {
      ...{ channelId: newId(), kind: 'slack', reason: 'gone', failures: 1, lastStatusCode: 404 },
    }),
  ];
}

describe('a replay', () => {
  it('sends the stored bytes again in order of occurredAt, freshly signed, with its id in X-Replay [replays.create, replays.order, replays.lists, replays.activity]', async () => {
    const keyword = await on.keyword('/own');
    const events = await on.events(keyword, 12);
    await on.events(keyword, 2, { push: false });
    await gotten(on.receiver, '/own', 12);
    const { id, ...rest } = await replay({ keyword_id: keyword.keywordId });
    expect(rest).toMatchObject({
      status: 'queued',
      keywordId: keyword.keywordId,
      watchId: null,
      url: url('/own'),
      finishedAt: null,
    });
    const ended = await on.ended(id);
    expect(ended).toMatchObject({
      status: 'done',
      matched: 12,
      sent: 12,
      failed: 0,
      missing: 0,
      message: null,
    });
    const requests = through('/own', id);
    expect(requests.map(({ headers }) => headers['webhook-id'])).toEqual(events.map((event) => event.id));
    expect(requests.every(({ body }, n) => body.equals(events[n]?.bytes ?? Buffer.alloc(0)))).toBe(true);
    const secret = await on.secret();
    for (const { headers, body } of requests) {
      const [, t = '', v1] = /^t=(\d+),v1=(.+)$/.exec(String(headers['x-signature'])) ?? [];
      expect(v1).toBe(createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex'));
      expect(Math.abs(Date.now() / 1000 - Number(t))).toBeLessThan(60);
    }
    const activity = await until('its attempts are in the activity', async () => {
      const { body } = await on.ada.api.get(`/v1/keywords/${keyword.keywordId}/activity`);
      const found = body.activity.filter(({ type }: Json) => type === 'webhook.delivered');
      return found.length === 24 && found;
    });
    expect(new Set(activity.map(({ eventId }: Json) => eventId)).size).toBe(12);
    expect((await on.ada.api.get(`/v1/replays?keyword=${keyword.keywordId}`)).body.data[0]).toEqual(ended);
  });

  it('sends the events of the keyword itself again, of all five kinds, which only a subscriber gets [events.keyword-level, alerts.activity]', async () => {
    const all = { webhook_events: [...KEYWORD_EVENT_TYPES] };
    const { keywordId } = await on.keyword('/kinds', all);
    const silent = await on.keyword('/silent', { global_criteria: { market: 'global', query: 'silent' } });
    const made = [silent.keywordId, keywordId].flatMap(ofEachKind);
    await on.store.publishAll(
      made.map((event) => ({
        subject: subjectOf('EVENTS', event.accountId, event.watchId),
        data: toBinary(EventSchema, event),
        msgId: event.eventId,
      })),
    );
    await gotten(on.receiver, '/kinds', 5);
    const bytes = made
      .filter((event) => event.keywordId === keywordId)
      .map(({ envelope }) => Buffer.from(envelope).toString())
      .sort();
    const stored = await until('they are stored', async () => {
      const { body } = await on.ada.api.get(`/v1/keywords/${keywordId}/events`);
      return body.data.length === 5 && (body.data as object[]);
    });
    expect(stored.map((event) => JSON.stringify(event)).sort()).toEqual(bytes);
    const lines = await until('they are in the activity', async () => {
      const { body } = await on.ada.api.get(`/v1/keywords/${keywordId}/activity`);
      const types = new Set(body.activity.map(({ type }: Json) => type as string));
      return types.size >= 5 && types;
    });
    // The line of a disabled channel is its failed attempt.
    const own = KEYWORD_EVENT_TYPES.filter((type) => type !== 'channel.disabled');
    expect([...lines].sort()).toEqual([...own, 'webhook.delivered'].sort());
    const { id } = await replay({ keyword_id: keywordId });
    expect(await on.ended(id)).toMatchObject({ status: 'done', matched: 5, sent: 5, missing: 0 });
    expect(
      through('/kinds', id)
        .map(({ body }) => body.toString())
        .sort(),
    ).toEqual(bytes);
    expect(on.receiver.received.filter(({ path }) => path === '/silent')).toEqual([]);
  });

  it('works for a retired keyword, by time range and type, to another address [replays.retired]', async () => {
    const keyword = await on.keyword(null);
    await on.events(keyword, 3, { secondsAgo: 5000 });
    const [wanted] = await on.events(keyword, 1, { secondsAgo: 600 });
    await on.events(keyword, 1, { secondsAgo: 500, type: 'post.created' });
    await on.ada.api.delete(`/v1/keywords/${keyword.keywordId}`);
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    const { id } = await replay({
      watch_id: keyword.watchId,
      since: minutesAgo(20),
      until: minutesAgo(5),
      types: ['hn_item.created'],
      url: url('/elsewhere'),
    });
    expect(await on.ended(id)).toMatchObject({ status: 'done', matched: 1, sent: 1 });
    expect(idsOn('/elsewhere', id)).toEqual([wanted?.id]);
  });

  it('does not exceed its rate', async () => {
    const keyword = await on.keyword(null);
    await on.events(keyword, 7);
    const { id } = await replay({
      keyword_id: keyword.keywordId,
      url: url('/slowly'),
      rate_per_second: 3,
    });
    const started = await until(
      'the first event has arrived',
      () => through('/slowly', id).length > 0 && Date.now(),
    );
    await on.ended(id);
    // Seven events at three per second: the last one comes at least two seconds after the first.
    expect(Date.now() - started).toBeGreaterThan(1700);
  });

  it('retries failed deliveries, and continues with the others [replays.retried]', async () => {
    const keyword = await on.keyword(null);
    await on.events(keyword, 4);
    on.receiver.answers.set('/shaky', { status: 500 });
    const { id } = await replay({ keyword_id: keyword.keywordId, url: url('/shaky') });
    await gotten(on.receiver, '/shaky', 4);
    await until('all wait', async () => (await waiting(id)) === 4);
    expect((await on.ada.api.get(`/v1/replays/${id}`)).body).toMatchObject({ status: 'running', sent: 0 });
    on.receiver.answers.clear();
    await on.database.query('UPDATE pending_deliveries SET due_at = now()');
    expect(await on.ended(id)).toMatchObject({ status: 'done', sent: 4, failed: 0 });
    expect(through('/shaky', id).length).toBe(8);
  });

  it('fails when the address answers 410, and disables the address', async () => {
    const keyword = await on.keyword(null);
    await on.events(keyword, 5);
    on.receiver.answers.set('/gone', { status: 410 });
    const { id } = await replay({ keyword_id: keyword.keywordId, url: url('/gone') });
    expect(await on.ended(id)).toMatchObject({
      status: 'failed',
      sent: 0,
      failed: 1,
      message: 'the endpoint is disabled: the endpoint answered 410 Gone',
    });
    expect(through('/gone', id).length).toBe(1);
    const again = await on.ada.api.post('/v1/replays', {
      since: since(),
      keyword_id: keyword.keywordId,
      url: url('/gone'),
    });
    expect([again.status, again.body.code]).toEqual([409, 'CONFLICT']);
  });

  it('delays neither live deliveries nor other replays when its receiver hangs', async () => {
    const keyword = await on.keyword(null);
    const beside = await on.keyword('/beside');
    await on.events(keyword, 3);
    on.receiver.answers.set('/hangs', { status: 0 });
    const hanging = await replay({ keyword_id: keyword.keywordId, url: url('/hangs') });
    await gotten(on.receiver, '/hangs', 1);
    const other = await replay({ keyword_id: keyword.keywordId, url: url('/other') });
    expect(await on.ended(other.id)).toMatchObject({ status: 'done', sent: 3 });
    await on.events(beside, 1);
    await gotten(on.receiver, '/beside', 1);
    expect((await on.ada.api.get(`/v1/replays/${hanging.id}`)).body.status).toBe('running');
    expect((await on.ada.api.delete(`/v1/replays/${hanging.id}`)).status).toBe(204);
  });

  it('sends nothing more after it was cancelled, and records what it dropped [replays.cancel]', async () => {
    const keyword = await on.keyword(null);
    await on.events(keyword, 30);
    on.receiver.answers.set('/cancelled', { status: 503 });
    const { id } = await replay({
      keyword_id: keyword.keywordId,
      url: url('/cancelled'),
      rate_per_second: 5,
    });
    await gotten(on.receiver, '/cancelled', 6);
    expect((await on.ada.api.delete(`/v1/replays/${id}`)).status).toBe(204);
    expect((await on.ada.api.delete(`/v1/replays/${id}`)).status).toBe(204);
    const { status, finishedAt } = await on.ended(id);
    expect([status, typeof finishedAt]).toEqual(['cancelled', 'string']);
    await until('nothing waits', async () => (await waiting(id)) === 0);
    const sent = through('/cancelled', id).length;
    const givenUp = await until('the sent deliveries are given up with a record', async () => {
      const records = (await on.attempts()).filter(({ targetId }) => targetId === id);
      const found = records.filter(({ number }) => number === 0);
      return found.length === new Set(records.map(({ eventId }) => eventId)).size && found;
    });
    expect(
      givenUp.every(({ message }) => /^not sent: the replay (was cancelled|has ended)$/.test(message)),
    ).toBe(true);
    const { id: next } = await replay({ keyword_id: keyword.keywordId, url: url('/after') });
    await on.ended(next);
    expect(through('/cancelled', id).length).toBeLessThanOrEqual(sent + 1);
  });

  it('ends when its keyword is purged [states.purged]', async () => {
    const keyword = await on.keyword(null);
    await on.events(keyword, 40);
    const { id } = await replay({
      keyword_id: keyword.keywordId,
      url: url('/purged'),
      rate_per_second: 5,
    });
    const ofWatch = await replay({ watch_id: keyword.watchId, url: url('/purged-too'), rate_per_second: 5 });
    await gotten(on.receiver, '/purged', 3);
    expect((await on.ada.api.delete(`/v1/keywords/${keyword.keywordId}?purge=true`)).status).toBe(204);
    const sent = through('/purged', id).length;
    expect(await on.ended(id)).toMatchObject({ status: 'cancelled', message: 'the keyword was purged' });
    expect(through('/purged', id).length).toBeLessThanOrEqual(sent + 2);
    expect((await on.ended(ofWatch.id)).status).toBe('cancelled');
    for (const one of [id, ofWatch.id])
      await until('its address is deleted', async () => {
        const { body } = await on.ada.api.get(`/v1/replays/${one}`);
        return body.url === null;
      });
    const again = await on.ada.api.post('/v1/replays', {
      since: since(),
      keyword_id: keyword.keywordId,
      url: url('/purged'),
    });
    expect(again.status).toBe(404);
    await until(
      'its facts are deleted',
      async () => (await on.store.read('REPLAYS', subjectOf('REPLAYS', on.ada.accountId, id))).length === 0,
    );
    expect((await on.ada.api.delete(`/v1/replays/${id}`)).status).toBe(204);
  });

  it('reports the events that are in the index but not in the stream', async () => {
    const keyword = await on.keyword(null);
    const events = await on.events(keyword, 5);
    const rows = await until('all events are in the index', async () => {
      const found = await selectRows<{ event_id: string; stream_seq: string; envelope: string }>(
        on.service.clickhouse,
        'SELECT event_id, stream_seq, envelope FROM events WHERE watch_id = {watchId: UUID} ORDER BY occurred_at',
        { watchId: keyword.watchId },
      );
      return found.length === 5 && found;
    });
    // The index contains the bytes of the stream.
    expect(rows.map(({ event_id, envelope }) => [event_id, envelope])).toEqual(
      events.map(({ id, bytes }) => [id, bytes.toString()]),
    );
    await on.bus.jsm.streams.deleteMessage('EVENTS', Number(rows[2]?.stream_seq));
    const { id } = await replay({ keyword_id: keyword.keywordId, url: url('/gap') });
    expect(await on.ended(id)).toMatchObject({
      status: 'done',
      matched: 5,
      sent: 4,
      missing: 1,
      message: '1 event is in the index but not in the stream',
    });
    expect(idsOn('/gap', id)).toEqual(events.filter((_, n) => n !== 2).map((event) => event.id));
  });

  it('runs beside at most four others of its account, and several replicas send each event once', async () => {
    const keyword = await on.keyword(null);
    const events = await on.events(keyword, 20);
    const joined = await startQuietServices(on.service.stores);
    const body = { keyword_id: keyword.keywordId, rate_per_second: 10 };
    const replays = await Promise.all(
      [1, 2, 3, 4, 5].map((n) => replay({ ...body, url: url(`/many-${n}`) })),
    );
    const sixth = await on.ada.api.post('/v1/replays', { since: since(), ...body, url: url('/many-6') });
    expect([sixth.status, sixth.body.code]).toEqual([409, 'CONFLICT']);
    for (const [n, { id }] of replays.entries()) {
      expect(await on.ended(id)).toMatchObject({ status: 'done', sent: 20 });
      expect(idsOn(`/many-${n + 1}`, id)).toEqual(events.map((event) => event.id));
    }
    for (const service of joined) await service.stop();
  });

  it('continues from its last turn after its process died, and sends each event at least once [replays.resumes]', async () => {
    const keyword = await on.keyword(null);
    const events = await on.events(keyword, 10);
    const { id } = await replay({
      keyword_id: keyword.keywordId,
      url: url('/taken-over'),
      rate_per_second: 2,
    });
    await gotten(on.receiver, '/taken-over', 3);
    // The state after a process died: claimed, but nobody works on it.
    await on.database.query(
      `UPDATE replays SET claim = gen_random_uuid(), due_at = now() + interval '1 second' WHERE replay_id = $1`,
      [id],
    );
    const ended = await on.ended(id);
    expect(ended).toMatchObject({ status: 'done', sent: 10, failed: 0 });
    expect([...new Set(idsOn('/taken-over', id))]).toEqual(events.map((event) => event.id));
  });

  it('is free, is hidden from other accounts, and is listed page by page [replays.free, replays.lists]', async () => {
    const keyword = await on.keyword(null);
    await on.events(keyword, 1);
    const made: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const { id } = await replay({ keyword_id: keyword.keywordId, url: url('/listed') });
      made.unshift(id);
      await on.ended(id);
    }
    const listed = await on.ada.api.all(`/v1/replays?keyword=${keyword.keywordId}&limit=2`);
    expect(listed.map(({ id }) => id)).toEqual(made);
    const eve = await on.service.tenant();
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
    expect((await on.ada.api.get('/v1/credits/ledger?kind=charge')).body.data).toEqual([]);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['neither keyword nor watch', {}, 'keyword_id'],
    ['both', { keyword_id: ID, watch_id: ID }, 'watch_id'],
    ['no beginning', { since: undefined, keyword_id: ID }, 'since'],
    ['a beginning that is not a time', { since: 'yesterday', keyword_id: ID }, 'since'],
    ['an end before the beginning', { until: '2020-01-01', keyword_id: 'own' }, 'since'],
    ['an unknown type', { types: ['hn.created'], keyword_id: ID }, 'types'],
    ['a rate of 0', { rate_per_second: 0, keyword_id: ID }, 'rate_per_second'],
    ['a private address', { url: 'http://10.0.0.1/', keyword_id: ID }, 'url'],
    ['no address at all', { keyword_id: 'own' }, 'url'],
  ])('that is requested with %s returns 400 with the name of the field', async (_, body, path) => {
    const own = body.keyword_id === 'own' ? (await on.keyword(null)).keywordId : body.keyword_id;
    const extra = path === 'since' && body.until ? { url: url('/x') } : {};
    const answer = await on.ada.api.post('/v1/replays', {
      since: since(),
      ...body,
      ...extra,
      ...(own ? { keyword_id: own } : {}),
    });
    expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION']);
    expect(answer.body.details.map((fault: Json) => fault.path)).toEqual([path]);
  });
});

const waiting = async (replayId: string): Promise<number> => {
  const rows: { count: number }[] = await on.database.query(
    'SELECT count(*)::int AS count FROM pending_deliveries WHERE target_id = $1',
    [replayId],
  );
  return rows[0]?.count ?? 0;
};
