import { create, toBinary } from '@bufbuild/protobuf';
import { parseAtomFeed } from 'feedsmith';
import { request } from 'undici';
import { insertRows } from '#clickhouse';
import { EventSchema } from '#contracts';
import { EventStore } from '#event-store';
import { newId } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { MENTIONS_SINK } from '#projections';
import type { RunningService } from '#platform';
import { openDatabase } from '#postgres';
import { createLogger } from '#telemetry';
import { ApiClient, until, type Json } from '#testing';
import {
  keywordBody,
  mentionRow,
  startInterface,
  type InterfaceUnderTest,
  type Tenant,
} from './interface-under-test.js';
import { startQuietServices } from './quiet-services.js';

let service: InterfaceUnderTest;
let others: RunningService[] = [];
let ada: Tenant;
let bus: Bus;
let keyword: Json;

beforeAll(async () => {
  service = await startInterface();
  others = await startQuietServices(service.stores);
  ada = await service.tenant();
  bus = await connectBus(service.stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  keyword = (await ada.api.post('/v1/keywords', keywordBody())).body;
});
afterAll(async () => {
  for (const other of others) await other.stop();
  await bus?.close();
  await service?.stop();
});

/** A mention of the keyword, as the sink writes it. */
async function mention(more: object = {}): Promise<string> {
  const row = mentionRow(ada.accountId, { keyword_id: keyword.id, watch_id: keyword.watches[0].id, ...more });
  await insertRows(service.clickhouse, 'mentions', [row]);
  return row.event_id;
}

const patch = (id: string, body: object) => ada.api.patch(`/v1/mentions/${id}`, body);
const listed = async (query: string): Promise<string[]> =>
  (await ada.api.get(`/v1/mentions?${query}`)).body.data.map(({ id }: { id: string }) => id);

describe('PATCH /v1/mentions/{id}', () => {
  it('returns the mention with its labels, and every read shows them at once', async () => {
    const id = await mention();
    const { status, body } = await patch(id, { labels: ['starred', 'to_reply'] });
    expect([status, body.id, body.labels]).toEqual([200, id, ['starred', 'to_reply']]);
    expect((await ada.api.get(`/v1/mentions/${id}`)).body).toEqual(body);
    expect(await listed('label=starred')).toContain(id);
    expect((await patch(id, { labels: [] })).body.labels).toEqual([]);
    expect(await listed('label=starred')).not.toContain(id);
    expect(await listed('')).toContain(id);
  });

  it('omits a hidden mention from lists unless it is requested', async () => {
    const id = await mention();
    await patch(id, { labels: ['hidden'] });
    expect(await listed('')).not.toContain(id);
    expect(await listed('label=hidden')).toContain(id);
  });

  it('corrects the analysis, filters by the correction, and removes it with null [readings.corrections]', async () => {
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

  it('measures the readings by the corrections of the account [readings.accuracy, readings.min-relevance-filter]', async () => {
    const eve = await service.tenant();
    const made = { reader: 'local', reader_model: 'm', reader_version: '1' };
    const read = async (sentiment: string, relevance: number) => {
      const row = mentionRow(eve.accountId, { ...made, sentiment, intent: 'other', relevance });
      row.watch_id = keyword.watches[0].id;
      await insertRows(service.clickhouse, 'mentions', [row]);
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
    expect((await ada.api.get('/v1/readings/accuracy')).body.data).not.toContainEqual(
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
    expect((await ada.api.get(`/v1/mentions/${id}`)).body.labels).toEqual([]);
  });

  it('returns 404 for another account’s mention, and for an unknown one', async () => {
    const bob = await service.tenant();
    const foreign = await bob.api.patch(`/v1/mentions/${await mention()}`, { labels: [] });
    expect([foreign.status, foreign.body.code]).toEqual([404, 'NOT_FOUND']);
    expect((await patch(newId(), { labels: ['starred'] })).status).toBe(404);
    expect((await patch('x', { labels: ['starred'] })).status).toBe(404);
  });

  it('keeps every one of many concurrent changes to different keys', async () => {
    const id = await mention();
    const changes = [{ labels: ['flagged'] }, { sentiment: 'mixed' }, { intent: 'other' }, { relevance: 7 }];
    const answers = await Promise.all(changes.map((change) => patch(id, change)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { body } = await ada.api.get(`/v1/mentions/${id}`);
    expect([body.labels, body.analysis]).toEqual([
      ['flagged'],
      { sentiment: 'mixed', sentimentScore: null, intent: 'other', relevance: 7, reason: null },
    ]);
  });

  it('keeps a person’s labels, in place of those of rules, and corrections when its event is delivered again, and does not change the stored event [rules.mark, rules.filter, rules.why, readings.corrections]', async () => {
    const [eventId, store] = [newId(), new EventStore(bus)];
    const event = create(EventSchema, {
      accountId: ada.accountId,
      keywordId: keyword.id,
      watchId: keyword.watches[0].id,
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
    const subject = subjectOf('EVENTS', ada.accountId, event.watchId);
    await store.publish(subject, toBinary(EventSchema, event), eventId);
    await until('it is readable', async () => (await ada.api.get(`/v1/mentions/${eventId}`)).status === 200);
    const corrected = await patch(eventId, { relevance: 50 });
    expect(corrected.body.labels).toEqual(['flagged', 'to_reply']);
    expect([await listed('rule=r1'), await listed('rule=r2')]).toEqual([[eventId], []]);
    expect((await ada.api.get(`/v1/mentions/${eventId}/why`)).body.rules).toEqual([
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
    // As after a crash of the sink, or during a rebuild of the table.
    await store.publish(subject, toBinary(EventSchema, event), newId());
    const last = await store.lastSeq('EVENTS', subject);
    await until('the sink has written it again', async () => {
      const { ack_floor } = await bus.jsm.consumers.info('EVENTS', MENTIONS_SINK);
      return ack_floor.stream_seq >= last;
    });
    const { body: again } = await ada.api.get(`/v1/mentions/${eventId}`);
    expect([again.labels, again.corrected, again.analysis.relevance]).toEqual([
      ['starred'],
      ['relevance'],
      50,
    ]);
    expect(await listed('label=starred')).toContain(eventId);
    const events = await new ApiClient(service.url, ada.api.apiKey).get(`/v1/keywords/${keyword.id}/events`);
    expect(events.body.data).toContainEqual({ id: eventId });
  });
});

describe('POST /v1/keywords/{id}/backtest', () => {
  const rule = {
    name: 'outage',
    when: { kind: 'item', all: [{ field: 'text', op: 'contains', value: 'outage' }] },
    then: [{ type: 'mark', label: 'flagged' }, { type: 'stop' }],
  };
  let own: Json;
  let found: Json;
  const start = (body: object, id = own.id) => ada.api.post(`/v1/keywords/${id}/backtest`, body);

  beforeAll(async () => {
    const body = keywordBody({ global_criteria: { market: 'global', query: 'tested' } });
    own = (await ada.api.post('/v1/keywords', body)).body;
    const scene = { keyword_id: own.id, watch_id: own.watches[0].id };
    for (let n = 0; n < 5; n += 1)
      await mention({
        ...scene,
        text: n < 2 ? 'an outage of acme' : 'acme promo',
        title: '',
        rules: n === 4 ? ['old'] : [],
      });
  });

  it('returns what other rules and mutes would have done, and changes nothing [rules.backtest]', async () => {
    const window = { kind: 'volume', window: '1h', min: 1, multiple: 1 };
    const volume = { name: 'many', when: window, then: [{ type: 'notify' }] };
    found = await start({ rules: [rule, volume], mute_rules: ['promo'] });
    expect([found.status, found.body]).toMatchObject([
      200,
      {
        ...{ items: 5, alerts: [], added: 2, removed: 1 },
        byRule: [
          { name: 'outage', fired: 2, perDay: [{ count: 2 }] },
          { name: 'many', fired: 0, perDay: [] },
        ],
        dropped: [
          { reason: 'muted', count: 3 },
          { reason: 'rule', count: 2 },
        ],
      },
    ]);
    const { body } = await ada.api.get(`/v1/keywords/${own.id}`);
    expect([body.rules, body.muteRules, body.version]).toEqual([own.rules, own.muteRules, own.version]);
    expect((await ada.api.get(`/v1/keywords/${own.id}/results`)).body.data).toHaveLength(5);
  });

  it('returns its items in pages, each with its clauses and the difference [rules.backtest-items]', async () => {
    const items: Json[] = [];
    let cursor = '';
    do {
      const page = await ada.api.get(
        `/v1/keywords/${own.id}/backtest/${found.body.id}/items?limit=2${cursor && `&cursor=${cursor}`}`,
      );
      expect(page.body.data.length).toBeLessThanOrEqual(2);
      items.push(...page.body.data);
      cursor = page.body.nextCursor ?? '';
    } while (cursor);
    expect(new Set(items.map(({ mentionId }) => mentionId)).size).toBe(5);
    const [ruleId] = found.body.byRule.map((one: Json) => one.ruleId);
    expect(items.filter(({ added }) => added.length > 0)).toMatchObject(
      [1, 2].map(() => ({
        ...{ added: [ruleId], removed: [], labels: ['flagged'], dropped: { reason: 'rule', rule: 'outage' } },
        ...{ droppedThen: null, rules: [{ fired: true, clauses: [{ field: 'text', holds: true }] }] },
      })),
    );
    expect(items.flatMap(({ removed }) => removed)).toEqual(['old']);
  });

  it('returns only items for which a rule fires or no longer fires, if asked for [rules.backtest-items]', async () => {
    const items: Json[] = [];
    let [cursor, pages] = ['', 0];
    do {
      const page = await ada.api.get(
        `/v1/keywords/${own.id}/backtest/${found.body.id}/items?fired=true&limit=1${cursor && `&cursor=${cursor}`}`,
      );
      items.push(...page.body.data);
      [cursor, pages] = [page.body.nextCursor ?? '', pages + 1];
    } while (cursor);
    expect(items.map(({ added, removed }) => [added.length, removed.length])).toEqual([
      [0, 1],
      [1, 0],
      [1, 0],
    ]);
    expect(pages).toBeLessThanOrEqual(4);
  });

  it('takes the changes of a keyword only, and names each fault', async () => {
    const clause = { field: 'likes', op: 'contains', value: '1' };
    const { status, body } = await start({
      ...{ name: 'other', since: '2999-01-01', min_relevance: 101 },
      rules: [{ ...rule, when: { kind: 'item', all: [clause] } }],
    });
    expect([status, body.details.map(({ path }: Json) => path).sort()]).toEqual([
      400,
      ['min_relevance', 'name'],
    ]);
    const wrong = await start({ rules: [{ ...rule, when: { kind: 'item', all: [clause] } }] });
    expect(wrong.body.details).toMatchObject([{ path: 'rules[0].when.all[0].op' }]);
    expect((await start({ since: '2999-01-01' })).body.details).toMatchObject([{ path: 'since' }]);
  });

  it('returns 429 while another backtest of the account runs, and the other one its result [rules.backtest-once]', async () => {
    const database = await openDatabase(service.stores.databaseUrl, 'spec', 2);
    // The one that begins first waits until the lock is released.
    const both = await database.transaction(async (tx) => {
      await tx.query('LOCK TABLE backtests IN EXCLUSIVE MODE');
      const answers = [start({}), start({})];
      expect(await Promise.race(answers)).toMatchObject({ status: 429, body: { code: 'TOO_MANY_REQUESTS' } });
      return answers;
    });
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 429]);
    expect((await start({})).status).toBe(200);
    await database.destroy();
  });

  it('returns 404 for another account’s keyword and backtest', async () => {
    const bob = await service.tenant();
    expect((await bob.api.post(`/v1/keywords/${own.id}/backtest`, {})).status).toBe(404);
    const items = `/v1/keywords/${own.id}/backtest/${found.body.id}/items`;
    expect((await bob.api.get(items)).status).toBe(404);
    expect((await ada.api.get(items.replace(found.body.id, newId()))).status).toBe(404);
    expect((await ada.api.get(items.replace(own.id, keyword.id))).status).toBe(404);
  });
});

describe('the feeds of a keyword', () => {
  const fetched = async (url: string, headers: Record<string, string> = {}) => {
    const answer = await request(url, { headers });
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
  };

  it('show its newest mentions without a key, and no dropped and hidden ones [feeds.open]', async () => {
    const body = keywordBody({ global_criteria: { market: 'global', query: 'fed' } });
    const own = (await ada.api.post('/v1/keywords', body)).body;
    const scene = { keyword_id: own.id, watch_id: own.watches[0].id };
    const seen = await mention({ ...scene, title: '<b>Fed & "fed"</b>', text: ']]> \u0001 fed' });
    await mention({ ...scene, dropped_reason: 'muted', dropped_rule: 'x' });
    await mention({ ...scene, labels: ['hidden'] });
    const { status, body: feed } = await ada.api.get(`/v1/keywords/${own.id}/feed`);
    expect(status).toBe(200);
    const atom = await fetched(feed.atomUrl);
    expect([atom.status, atom.headers['content-type']]).toEqual([200, 'application/atom+xml; charset=utf-8']);
    expect(parseAtomFeed(atom.text).entries).toMatchObject([
      { id: `urn:uuid:${seen}`, title: { value: '<b>Fed & "fed"</b>' }, content: { value: ']]>  fed' } },
    ]);
    const { headers, text } = await fetched(feed.jsonUrl);
    expect([headers['content-type'], headers['x-robots-tag']]).toEqual([
      'application/feed+json; charset=utf-8',
      'noindex',
    ]);
    expect(JSON.parse(text)).toMatchObject({ feed_url: feed.jsonUrl, items: [{ id: seen }] });
    const again = await fetched(feed.jsonUrl, { 'if-none-match': String(headers.etag) });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  it('get new addresses by a rotation, and the old ones are not found any more [feeds.rotate]', async () => {
    const path = `/v1/keywords/${keyword.id}/feed`;
    const { body: before } = await ada.api.get(path);
    const { status, body: after } = await ada.api.post(`${path}/rotate`, {});
    expect([status, (await ada.api.get(path)).body]).toEqual([200, after]);
    const statuses = [before.atomUrl, before.jsonUrl, after.atomUrl, after.jsonUrl].map(
      async (url) => (await fetched(url)).status,
    );
    expect(await Promise.all(statuses)).toEqual([404, 404, 200, 200]);
    const forged = after.atomUrl.replace(/.\.xml$/, (end: string) =>
      end.startsWith('A') ? 'B.xml' : 'A.xml',
    );
    expect((await fetched(forged)).status).toBe(404);
    const bob = await service.tenant();
    expect([(await bob.api.get(path)).status, (await bob.api.post(`${path}/rotate`, {})).status]).toEqual([
      404, 404,
    ]);
  });
});

describe('a purged keyword', () => {
  it('is absent from every read of mentions that begins after the 204', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { body: doomed } = await ada.api.post(
        '/v1/keywords',
        keywordBody({ global_criteria: { market: 'global', query: `doomed ${round}` } }),
      );
      const ids: string[] = [];
      for (let n = 0; n < 20; n += 1)
        ids.push(await mention({ keyword_id: doomed.id, watch_id: doomed.watches[0].id, title: 'doomed' }));
      await patch(ids[0] ?? '', { labels: ['starred'] });
      expect((await listed('q=doomed&limit=200')).length).toBe(20);
      expect((await ada.api.delete(`/v1/keywords/${doomed.id}?purge=true`)).status).toBe(204);
      const [list, one, why, series, exported] = await Promise.all([
        listed('q=doomed'),
        ada.api.get(`/v1/mentions/${ids[0]}`),
        ada.api.get(`/v1/mentions/${ids[1]}/why`),
        ada.api.get('/v1/mentions/series?q=doomed'),
        ada.api.get('/v1/mentions/export?q=doomed&format=csv').catch((error: Error) => error.message),
      ]);
      expect(list).toEqual([]);
      expect([one.status, why.status]).toEqual([404, 404]);
      expect(series.body.data.every(({ count }: { count: number }) => count === 0)).toBe(true);
      expect(JSON.stringify(exported)).not.toContain(ids[2]);
      expect((await patch(ids[3] ?? '', { labels: ['starred'] })).status).toBe(404);
    }
  }, 90_000);

  it('loses its labels', async () => {
    const { body: doomed } = await ada.api.post(
      '/v1/keywords',
      keywordBody({ global_criteria: { market: 'global', query: 'labelled' } }),
    );
    const id = await mention({ keyword_id: doomed.id, watch_id: doomed.watches[0].id });
    await patch(id, { labels: ['starred'] });
    const store = new EventStore(bus);
    const subject = subjectOf('LABELS', ada.accountId, doomed.id, id);
    expect(await store.lastSeq('LABELS', subject)).toBeGreaterThan(0);
    await ada.api.delete(`/v1/keywords/${doomed.id}?purge=true`);
    await until('its labels are gone', async () => (await store.lastSeq('LABELS', subject)) === 0);
  });
});
