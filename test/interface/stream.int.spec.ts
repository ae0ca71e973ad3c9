import { create, toBinary } from '@bufbuild/protobuf';
import { AckPolicy } from '@nats-io/jetstream';
import { fetch, Pool } from 'undici';
import { insertRows } from '#clickhouse';
import { EventSchema } from '#contracts';
import { EventStore } from '#event-store';
import { newId } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { MENTIONS_SINK } from '#projections';
import { createLogger } from '#telemetry';
import { until, type Json } from '#testing';
import { mentionRow, startInterface, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';

let service: InterfaceUnderTest;
let ada: Tenant;
let bob: Tenant;
let bus: Bus;

beforeAll(async () => {
  service = await startInterface();
  [ada, bob] = [await service.tenant(), await service.tenant()];
  bus = await connectBus(service.stores.natsUrl, 'spec', createLogger('spec', 'silent'));
});
afterAll(async () => {
  await bus?.close();
  await service?.stop();
});

/**
 * Appends an event to EVENTS.
 * @returns its id, its row, and a function that writes the row, as the sink (a consumer of analysis) does later
 */
async function append({ accountId }: Tenant, more: Parameters<typeof mentionRow>[1] = {}, isMention = true) {
  const [eventId, watchId, occurredAt] = [newId(), newId(), new Date().toISOString()];
  const item = { itemId: eventId, text: 'acme', bodyJson: '{}' };
  const event = create(EventSchema, {
    ...{ accountId, watchId, eventId, occurredAt, source: 'hackernews', type: 'hn_item.created' },
    ...(isMention ? { matched: { item } } : {}),
  });
  const subject = subjectOf('EVENTS', accountId, watchId);
  await new EventStore(bus).publish(subject, toBinary(EventSchema, event), eventId);
  const occurred_at = occurredAt.replace('T', ' ').replace('Z', '');
  const row = mentionRow(accountId, { occurred_at, event_id: eventId, watch_id: watchId, ...more });
  return { eventId, row, write: () => insertRows(service.clickhouse, 'mentions', [row]) };
}

const written = async (...given: Parameters<typeof append>) => {
  const { eventId, write } = await append(...given);
  await write();
  return eventId;
};

/**
 * Creates the consumer of the sink, the part of analysis that writes the rows of mentions. The sink does not run: a
 * test acknowledges events, or writes their rows itself.
 */
async function startSink() {
  await bus.jsm.consumers.add('EVENTS', { durable_name: MENTIONS_SINK, ack_policy: AckPolicy.All });
  return {
    async passAll() {
      const consumer = await bus.js.consumers.get('EVENTS', MENTIONS_SINK);
      const { num_pending } = await consumer.info();
      let last;
      if (num_pending > 0)
        for await (const message of await consumer.fetch({ max_messages: num_pending })) last = message;
      await last?.ackAck();
    },
    stop: () => bus.jsm.consumers.delete('EVENTS', MENTIONS_SINK),
  };
}

interface Block {
  event?: string;
  id?: string;
  data?: Json;
  comment?: string;
}

/** Opens a stream, and reads it in the background. */
async function listen(tenant: Tenant, query = '', lastEventId?: string) {
  const abort = new AbortController();
  const response = await fetch(`${service.url}/v1/stream${query}`, {
    headers: { 'x-api-key': tenant.api.apiKey, ...(lastEventId ? { 'last-event-id': lastEventId } : {}) },
    signal: abort.signal,
  });
  const blocks: Block[] = [];
  let isOver = false;
  const read = async () => {
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString('utf8');
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      blocks.push(...parts.map(blockOf));
    }
  };
  void read()
    .catch(() => undefined)
    .finally(() => (isOver = true));
  const mentions = () => blocks.filter(({ event }) => event === 'mention');
  return {
    response,
    mentions,
    ids: () => mentions().map(({ data }) => String(data.id)),
    /** The id after which a browser would continue. */
    place: () => until('there is an id', () => blocks.findLast(({ id }) => id !== undefined)?.id),
    isOver: () => isOver,
    close: () => abort.abort(),
  };
}

function blockOf(text: string): Block {
  const block: Block = {};
  for (const line of text.split('\n')) {
    const [, name = '', value = ''] = /^(\w*): ?(.*)$/.exec(line) ?? [];
    if (name === 'data') block.data = JSON.parse(value);
    else if (name === 'event' || name === 'id') block[name] = value;
  }
  return block;
}

describe('GET /v1/stream', () => {
  it('sends a new mention as GET /v1/mentions/{id} returns it [stream.live]', async () => {
    const stream = await listen(ada);
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    await stream.place();
    const id = await written(ada);
    await until('it arrives', () => stream.ids().includes(id));
    expect(stream.mentions()[0]?.data).toEqual((await ada.api.get(`/v1/mentions/${id}`)).body);
    stream.close();
  });

  it('sends mentions in the order of their events, even if a later mention is stored first', async () => {
    const stream = await listen(ada);
    await stream.place();
    const first = await append(ada);
    const second = await written(ada);
    await first.write();
    await until('both arrive', () => stream.ids().length === 2);
    expect(stream.ids()).toEqual([first.eventId, second]);
    stream.close();
  });

  it('sends only mentions that match the filter of GET /v1/mentions [stream.filters]', async () => {
    const stream = await listen(ada, '?source=reddit&q=budget');
    await stream.place();
    await written(ada, { source: 'reddit', text: 'something else', title: '' });
    await written(ada, { source: 'reddit', text: 'our budget', dropped_reason: 'muted' });
    const wanted = await written(ada, { source: 'reddit', text: 'our budget' });
    await until('it arrives', () => stream.ids().length > 0);
    expect(stream.ids()).toEqual([wanted]);
    stream.close();
  });

  it('continues after Last-Event-ID without missing or repeating a mention [stream.resume]', async () => {
    const before = await listen(ada);
    await before.place();
    const seen = await written(ada);
    await until('it arrives', () => before.ids().includes(seen));
    const place = await before.place();
    before.close();
    const missed = [await written(ada), await written(bob), await written(ada)];
    const after = await listen(ada, '', place);
    await until('both arrive', () => after.ids().length === 2);
    expect(after.ids()).toEqual([missed[0], missed[2]]);
    after.close();
  });

  it('continues where it began if the connection breaks before the first mention', async () => {
    const before = await listen(ada);
    const place = await before.place();
    before.close();
    const missed = await written(ada);
    const after = await listen(ada, '', place);
    await until('it arrives', () => after.ids().includes(missed));
    after.close();
  });

  it('skips events that are not mentions, and mentions that the sink has not stored because of a purge', async () => {
    const stream = await listen(ada);
    await stream.place();
    await append(ada, {}, false);
    const purged = await append(ada);
    const sink = await startSink();
    await sink.passAll();
    const next = await written(ada);
    await until('the next mention arrives', () => stream.ids().includes(next));
    expect(stream.ids()).not.toContain(purged.eventId);
    stream.close();
    await sink.stop();
  });

  it('sends a mention that was published before the stream began, but is stored later [stream.resume]', async () => {
    const sink = await startSink();
    await sink.passAll();
    const late = await append(ada);
    const { body: list } = await ada.api.get('/v1/mentions');
    expect(list.data.map(({ id }: Json) => id)).not.toContain(late.eventId);
    const streams = [await listen(ada), await listen(ada, '', list.lastEventId)];
    await Promise.all(streams.map((stream) => stream.place()));
    await late.write();
    for (const stream of streams) {
      await until('it arrives', () => stream.ids().length > 0);
      expect(stream.ids()).toEqual([late.eventId]);
      stream.close();
    }
    await sink.stop();
  });

  it('begins with new mentions even while the sink stores old mentions again after a rebuild', async () => {
    await written(ada);
    const sink = await startSink();
    const stream = await listen(ada);
    await stream.place();
    const id = await written(ada);
    await until('it arrives', () => stream.ids().length > 0);
    expect(stream.ids()).toEqual([id]);
    stream.close();
    await sink.stop();
  });

  it('sends the mentions of a new installation that were published before the sink was created', async () => {
    await service.clickhouse.command({ query: 'TRUNCATE TABLE mentions' });
    const cy = await service.tenant();
    const first = await append(cy);
    const withoutSink = await listen(cy);
    await withoutSink.place();
    const sink = await startSink();
    const withSink = await listen(cy);
    await withSink.place();
    await first.write();
    for (const stream of [withoutSink, withSink]) {
      await until('it arrives', () => stream.ids().length > 0);
      expect(stream.ids()).toEqual([first.eventId]);
      stream.close();
    }
    await sink.stop();
  });

  it('sends each of 450 missed mentions once', async () => {
    const before = await listen(ada);
    const place = await before.place();
    before.close();
    const missed = await Promise.all(Array.from({ length: 450 }, () => append(ada)));
    await insertRows(
      service.clickhouse,
      'mentions',
      missed.map(({ row }) => row),
    );
    const after = await listen(ada, '', place);
    await until('all arrive', () => after.ids().length >= missed.length);
    expect(after.ids().sort()).toEqual(missed.map(({ eventId }) => eventId).sort());
    after.close();
  }, 30_000);

  it('never sends another account’s mentions, and refuses another account’s Last-Event-ID', async () => {
    const [ofAda, ofBob] = [await listen(ada), await listen(bob)];
    await Promise.all([ofAda.place(), ofBob.place()]);
    const id = await written(bob);
    await until('it arrives', () => ofBob.ids().includes(id));
    expect(ofAda.ids()).toEqual([]);
    const wrong = await listen(ada, '', await ofBob.place());
    expect(wrong.response.status).toBe(400);
    for (const stream of [ofAda, ofBob]) stream.close();
  });

  it('returns 401 without a key, and 400 for a parameter of the list that a stream does not have', async () => {
    expect((await fetch(`${service.url}/v1/stream`)).status).toBe(401);
    const answer = await ada.api.get('/v1/stream?limit=5&mode=semantic&q=acme');
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain('limit');
  });

  it('answers a HEAD request without a stream, so that the connection can be used again', async () => {
    const dan = await service.tenant();
    const connection = new Pool(service.url, { connections: 1 });
    for (let n = 0; n < 2; n += 1) {
      const headers = { 'x-api-key': dan.api.apiKey };
      const answer = await connection.request({ method: 'HEAD', path: '/v1/stream', headers });
      await answer.body.dump();
      expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/event-stream']);
    }
    await connection.close();
  });

  it('returns 429 for more than 50 streams of one account, until another stream has ended', async () => {
    const carol = await service.tenant();
    const streams = await Promise.all(Array.from({ length: 50 }, () => listen(carol)));
    const tooMany = await carol.api.get('/v1/stream');
    expect([tooMany.status, tooMany.headers['retry-after']]).toEqual([429, '10']);
    streams[0]?.close();
    const next = await until('a stream is accepted', async () => {
      const stream = await listen(carol);
      return stream.response.status === 200 && stream;
    });
    for (const stream of [...streams, next]) stream.close();
  });
});
