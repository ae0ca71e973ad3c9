import { create, toBinary } from '@bufbuild/protobuf';
import { request } from 'undici';
import { insertRows } from '#clickhouse';
import { EventSchema } from '#contracts';
import { EventStore } from '#event-store';
import { newId } from '#kernel';
import { subjectOf } from '#messaging';
import { lockAccount } from '#postgres';
import { MENTIONS_SINK } from '#projections';
import { ApiClient, until } from '#testing';
import { keywordBody, mentionRow } from './interface-under-test.js';
import { backtestTasks } from './backtest-tasks.js';
import { feedAddressTasks } from './feed-address-tasks.js';
import { MentionsScene } from './mentions-scene.js';

const scene = new MentionsScene();
const { mention, patch, listed } = scene;

beforeAll(() => scene.start());
afterAll(() => scene.stop());

describe('PATCH /v1/mentions/{id}', () => {
  it('returns the mention with its new labels, which every later read shows', async () => {
    const id = await mention();
    const { status, body } = await patch(id, { labels: ['starred', 'to_reply'] });
    expect([status, body.id, body.labels]).toEqual([200, id, ['starred', 'to_reply']]);
    expect((await scene.ada.api.get(`/v1/mentions/${id}`)).body).toEqual(body);
    expect(await listed('label=starred')).toContain(id);
    expect((await patch(id, { labels: [] })).body.labels).toEqual([]);
    expect(await listed('label=starred')).not.toContain(id);
    expect(await listed('')).toContain(id);
  });

  it('hides a mention, with the label `hidden`, from lists that do not request hidden mentions', async () => {
    const id = await mention();
    await patch(id, { labels: ['hidden'] });
    expect(await listed('')).not.toContain(id);
    expect(await listed('label=hidden')).toContain(id);
  });

  it('is recorded with its outcome if its caller leaves before the response', async () => {
    const id = await mention();
    const { service, ada } = scene;
    const leave = new AbortController();
    await service.database.transaction(async (tx) => {
      await lockAccount(tx, ada.accountId);
      const response = request(`${service.url}/v1/mentions/${id}`, {
        method: 'PATCH',
        headers: { 'x-api-key': ada.api.apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ labels: ['starred'] }),
        signal: leave.signal,
      });
      await until('the change waits for the lock of its account', async () => {
        const waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
        return (await service.database.query<unknown[]>(waiting)).length > 0;
      });
      leave.abort();
      await expect(response).rejects.toThrow('aborted');
    });
    const statuses = () =>
      service.database.query<{ status: number | null }[]>('SELECT status FROM audit_log WHERE path = $1', [
        `/v1/mentions/${id}`,
      ]);
    await until('the change has a status', async () => (await statuses())[0]?.status ?? undefined);
    expect(await statuses()).toEqual([{ status: 200 }]);
    expect(await listed('label=starred')).toContain(id);
  });

  it('corrects readings, filters lists by the corrected values, and removes a correction with null [readings.corrections]', async () => {
    const id = await mention({ sentiment: 'negative' });
    const { body } = await patch(id, { sentiment: 'positive', intent: 'praise', relevance: 0 });
    expect(body.corrected).toEqual(['sentiment', 'intent', 'relevance']);
    expect(body.analysis).toMatchObject({ sentiment: 'positive', intent: 'praise', relevance: 0 });
    expect(await listed('sentiment=positive')).toContain(id);
    expect(await listed('sentiment=negative')).not.toContain(id);
    const back = await patch(id, { sentiment: null, intent: null, relevance: null });
    expect([back.status, back.body.corrected]).toEqual([200, undefined]);
    expect(await listed('sentiment=negative')).toContain(id);
  });

  it('stores corrections, and shows the account how often its readings were right [readings.accuracy, readings.min-relevance-filter]', async () => {
    const eve = await scene.service.tenant();
    const made = { reader: 'local', reader_model: 'm', reader_version: '1' };
    const read = async (sentiment: string, relevance: number) => {
      const row = mentionRow(eve.accountId, { ...made, sentiment, intent: 'other', relevance });
      row.watch_id = scene.keyword.watches[0].id;
      await insertRows(scene.service.clickhouse, 'mentions', [row]);
      return row.event_id;
    };
    const ids = [await read('positive', 80), await read('positive', 70), await read('negative', 10)];
    const corrections = [{ sentiment: 'positive' }, { sentiment: 'negative' }, { relevance: 90 }];
    for (const [index, id] of ids.entries())
      expect((await eve.api.patch(`/v1/mentions/${id}`, corrections[index]!)).status).toBe(200);
    const { body } = await eve.api.get('/v1/readings/accuracy');
    expect(body.data).toMatchObject([
      {
        reader: 'local',
        model: 'm',
        version: '1',
        field: 'sentiment',
        n: 2,
        agreement: 0.5,
        macroRecall: 0.5,
      },
      {
        field: 'relevance',
        n: 1,
        agreement: 0,
        confusion: [{ corrected: 'relevant', read: 'irrelevant', count: 1 }],
      },
    ]);
    const later = await eve.api.get('/v1/readings/accuracy?since=2999-01-01');
    expect([later.status, later.body.data]).toEqual([200, []]);
    const relevant = await eve.api.get('/v1/mentions?minRelevance=75');
    expect(relevant.body.data.map(({ id }: { id: string }) => id).sort()).toEqual([ids[0], ids[2]].sort());
    expect((await scene.ada.api.get('/v1/readings/accuracy')).body.data).not.toContainEqual(
      expect.objectContaining({ model: 'm' }),
    );
  });

  it('reports every fault, and changes nothing', async () => {
    const id = await mention();
    const { status, body } = await patch(id, {
      labels: ['loved'],
      sentiment: 'happy',
      relevance: 101,
      mood: 1,
    });
    expect(status).toBe(400);
    expect(body.details.map(({ path }: { path: string }) => path).sort()).toEqual([
      'labels',
      'mood',
      'relevance',
      'sentiment',
    ]);
    expect((await scene.ada.api.get(`/v1/mentions/${id}`)).body.labels).toEqual([]);
  });

  it('returns 404 for another account’s mention, and for an unknown mention', async () => {
    const bob = await scene.service.tenant();
    const foreign = await bob.api.patch(`/v1/mentions/${await mention()}`, { labels: [] });
    expect([foreign.status, foreign.body.code]).toEqual([404, 'NOT_FOUND']);
    expect((await patch(newId(), { labels: ['starred'] })).status).toBe(404);
    expect((await patch('x', { labels: ['starred'] })).status).toBe(404);
  });

  it('keeps all concurrent changes to different fields of a mention', async () => {
    const id = await mention();
    const changes = [{ labels: ['flagged'] }, { sentiment: 'mixed' }, { intent: 'other' }, { relevance: 7 }];
    const answers = await Promise.all(changes.map((change) => patch(id, change)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { body } = await scene.ada.api.get(`/v1/mentions/${id}`);
    expect([body.labels, body.analysis]).toEqual([
      ['flagged'],
      { sentiment: 'mixed', sentimentScore: null, intent: 'other', relevance: 7, reason: null },
    ]);
  });

  it('replaces labels that rules have set; its labels and corrections stay even if NATS delivers the event again [rules.mark, rules.filter, rules.why, readings.corrections]', async () => {
    const [eventId, store] = [newId(), new EventStore(scene.bus)];
    const event = create(EventSchema, {
      accountId: scene.ada.accountId,
      keywordId: scene.keyword.id,
      watchId: scene.keyword.watches[0].id,
      source: 'hackernews',
      eventId,
      checkId: newId(),
      type: 'hn_item.created',
      occurredAt: new Date().toISOString(),
      envelope: new TextEncoder().encode(JSON.stringify({ id: eventId })),
      matched: { item: { itemId: eventId, text: 'acme', bodyJson: '{}' } },
      matchMode: 'word',
      labels: ['flagged', 'to_reply'],
      rules: [
        {
          ...{ ruleId: 'r1', name: 'One', fired: true, actions: ['mark'] },
          clauses: [{ field: 'text', op: 'contains', valueJson: '"acme"', seenJson: '"acme"', holds: true }],
        },
        {
          ...{ ruleId: 'r2', name: 'Two', fired: false, actions: ['stop'] },
          clauses: [{ field: 'likes', op: 'exists', holds: false }],
        },
      ],
    });
    const subject = subjectOf('EVENTS', scene.ada.accountId, event.watchId);
    await store.publish(subject, toBinary(EventSchema, event), eventId);
    await until(
      'the mention is readable',
      async () => (await scene.ada.api.get(`/v1/mentions/${eventId}`)).status === 200,
    );
    const corrected = await patch(eventId, { relevance: 50 });
    expect(corrected.body.labels).toEqual(['flagged', 'to_reply']);
    expect([await listed('rule=r1'), await listed('rule=r2')]).toEqual([[eventId], []]);
    expect((await scene.ada.api.get(`/v1/mentions/${eventId}/why`)).body.rules).toEqual([
      {
        ...{ ruleId: 'r1', name: 'One', fired: true, actions: ['mark'] },
        clauses: [{ field: 'text', op: 'contains', value: 'acme', seen: 'acme', holds: true }],
      },
      {
        ...{ ruleId: 'r2', name: 'Two', fired: false, actions: ['stop'] },
        clauses: [{ field: 'likes', op: 'exists', value: null, seen: null, holds: false }],
      },
    ]);
    expect((await patch(eventId, { labels: [] })).body.labels).toEqual([]);
    await patch(eventId, { labels: ['starred'] });
    // The event is delivered again, as after a crash of analysis or in a rebuild of the table of mentions.
    await store.publish(subject, toBinary(EventSchema, event), newId());
    const last = await store.lastSeq('EVENTS', subject);
    await until('the mention is written again', async () => {
      const { ack_floor } = await scene.bus.jsm.consumers.info('EVENTS', MENTIONS_SINK);
      return ack_floor.stream_seq >= last;
    });
    const { body: again } = await scene.ada.api.get(`/v1/mentions/${eventId}`);
    expect([again.labels, again.corrected, again.analysis.relevance]).toEqual([
      ['starred'],
      ['relevance'],
      50,
    ]);
    expect(await listed('label=starred')).toContain(eventId);
    const events = await new ApiClient(scene.service.url, scene.ada.api.apiKey).get(
      `/v1/keywords/${scene.keyword.id}/events`,
    );
    expect(events.body.data).toContainEqual({ id: eventId });
  });
});

backtestTasks(scene);
feedAddressTasks(scene);

describe('a purged keyword', () => {
  it('is absent from every read of mentions that begins after the purge has returned 204', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { body: purged } = await scene.ada.api.post(
        '/v1/keywords',
        keywordBody({ global_criteria: { market: 'global', query: `doomed ${round}` } }),
      );
      const ids: string[] = [];
      for (let n = 0; n < 20; n += 1)
        ids.push(await mention({ keyword_id: purged.id, watch_id: purged.watches[0].id, title: 'doomed' }));
      await patch(ids[0] ?? '', { labels: ['starred'] });
      expect((await listed('q=doomed&limit=200')).length).toBe(20);
      expect((await scene.ada.api.delete(`/v1/keywords/${purged.id}?purge=true`)).status).toBe(204);
      const [list, one, why, series, exported] = await Promise.all([
        listed('q=doomed'),
        scene.ada.api.get(`/v1/mentions/${ids[0]}`),
        scene.ada.api.get(`/v1/mentions/${ids[1]}/why`),
        scene.ada.api.get('/v1/mentions/series?q=doomed'),
        scene.ada.api.get('/v1/mentions/export?q=doomed&format=csv').catch((error: Error) => error.message),
      ]);
      expect(list).toEqual([]);
      expect([one.status, why.status]).toEqual([404, 404]);
      expect(series.body.data.every(({ count }: { count: number }) => count === 0)).toBe(true);
      expect(JSON.stringify(exported)).not.toContain(ids[2]);
      expect((await patch(ids[3] ?? '', { labels: ['starred'] })).status).toBe(404);
    }
  }, 90_000);

  it('loses the labels of its mentions', async () => {
    const { body: purged } = await scene.ada.api.post(
      '/v1/keywords',
      keywordBody({ global_criteria: { market: 'global', query: 'labelled' } }),
    );
    const id = await mention({ keyword_id: purged.id, watch_id: purged.watches[0].id });
    await patch(id, { labels: ['starred'] });
    const store = new EventStore(scene.bus);
    const subject = subjectOf('LABELS', scene.ada.accountId, purged.id, id);
    expect(await store.lastSeq('LABELS', subject)).toBeGreaterThan(0);
    await scene.ada.api.delete(`/v1/keywords/${purged.id}?purge=true`);
    await until('its labels are gone', async () => (await store.lastSeq('LABELS', subject)) === 0);
  });
});
