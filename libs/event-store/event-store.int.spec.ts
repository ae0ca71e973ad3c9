import { newId, Outage } from '#kernel';
import { connectBus, getMessage, type Bus } from '#messaging';
import { createLogger } from '#telemetry';
import { isolateStores, type IsolatedStores } from '#testing';
import { AppendConflict, EventStore, predecessorOf } from './event-store.js';
import type { Stored } from './fetch-subject.js';

let stores: IsolatedStores;
let bus: Bus;
let store: EventStore;

beforeAll(async () => {
  stores = await isolateStores();
  bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  store = new EventStore(bus);
});
afterAll(async () => {
  await bus?.close();
  await stores?.drop();
});

const text = (data: Uint8Array) => new TextDecoder().decode(data);
const bytes = (value: string) => new TextEncoder().encode(value);
const subject = () => `keywords.${newId()}.${newId()}`;
const texts = async (of: string, after?: number) =>
  (await store.read('KEYWORDS', of, after)).map(({ data }) => text(data));

describe('the event store', () => {
  it('reads a subject, oldest message first, and nothing of another subject', async () => {
    const [one, other] = [subject(), subject()];
    const first = await store.append(one, bytes('a'), 0, newId());
    await store.append(other, bytes('x'), 0, newId());
    const second = await store.append(one, bytes('b'), first, newId());
    expect(await texts(one)).toEqual(['a', 'b']);
    expect(await store.lastSeq('KEYWORDS', one)).toBe(second);
    expect((await store.read('KEYWORDS', one)).map(({ seq }) => seq)).toEqual([first, second]);
  });

  it('reads the messages of a subject after a sequence, even if the sequence belongs to another subject', async () => {
    const one = subject();
    const first = await store.append(one, bytes('a'), 0, newId());
    const between = await store.append(subject(), bytes('x'), 0, newId());
    await store.append(one, bytes('b'), first, newId());
    expect(await texts(one, first)).toEqual(['b']);
    expect(await texts(one, between)).toEqual(['b']);
    expect(await texts(one, first + 1000)).toEqual([]);
  });

  /** Publishes messages to a new subject. @returns the subject */
  const filled = async (count: number, data = bytes('x')) => {
    const one = subject();
    for (let n = 0; n < count; n += 20)
      await store.publishAll(Array.from({ length: 20 }, () => ({ subject: one, data, msgId: newId() })));
    return one;
  };

  it.each([
    ['fetches the messages after the first hundred together', {}, 103],
    ['reads all messages one by one if they cannot be fetched', { js: undefined }, 301],
  ])('%s', async (_, broken, expected) => {
    const one = await filled(300);
    const getMessage = jest.fn<Promise<unknown>, [string, never]>((...query) =>
      bus.reads.streams.getMessage(...query),
    );
    const counted = new EventStore({
      ...bus,
      ...broken,
      reads: { streams: { getMessage } },
    } as unknown as Bus);
    const sequences = (await counted.read('KEYWORDS', one)).map(({ seq }) => seq);
    expect(new Set(sequences).size).toBe(300);
    expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
    expect(getMessage.mock.calls.length).toBeLessThanOrEqual(expected);
    expect((await bus.jsm.streams.info('KEYWORDS')).state.consumer_count).toBe(0);
  });

  it('reads several subjects at the same time, even if the server cannot hold so many bytes for one connection', async () => {
    const large = new Uint8Array(1_000_000);
    const subjects = [await filled(100, large), await filled(100, large), await filled(100, large)];
    const read = await Promise.all(
      subjects.map((one) => store.readSince('KEYWORDS', one, new Date(0), ({ data }) => data.length)),
    );
    expect(read).toEqual(subjects.map(() => Array.from({ length: 100 }, () => large.length)));
  }, 30_000);

  it('reads the messages of a subject since a given time', async () => {
    const one = subject();
    await store.append(one, bytes('a'), 0, newId());
    const textOf = ({ data }: Stored) => text(data);
    expect(await store.readSince('KEYWORDS', one, new Date(0), textOf)).toEqual(['a']);
    expect(await store.readSince('KEYWORDS', one, new Date(Date.now() + 120_000), textOf)).toEqual([]);
    expect(await store.readSince('KEYWORDS', subject(), new Date(0), textOf)).toEqual([]);
  });

  it('throws an outage if the server that delivers the messages does not have the last message yet', async () => {
    const one = subject();
    const seq = await store.append(one, bytes('a'), 0, newId());
    const getMessage = () => Promise.resolve({ seq: seq + 1, time: new Date() });
    const behind = new EventStore({ ...bus, reads: { streams: { getMessage } } } as unknown as Bus);
    await expect(behind.readSince('KEYWORDS', one, new Date(0), String)).rejects.toThrow(Outage);
  });

  it('returns nothing for an unknown subject', async () => {
    expect(await store.read('KEYWORDS', subject())).toEqual([]);
    expect(await store.lastSeq('KEYWORDS', subject())).toBe(0);
  });

  it('refuses an append at a wrong sequence, too low or too high', async () => {
    const one = subject();
    const first = await store.append(one, bytes('a'), 0, newId());
    await expect(store.append(one, bytes('b'), 0, newId())).rejects.toThrow(AppendConflict);
    await expect(store.append(one, bytes('b'), first + 1, newId())).rejects.toThrow(AppendConflict);
    await expect(store.append(subject(), bytes('b'), first, newId())).rejects.toThrow(AppendConflict);
    expect(await texts(one)).toEqual(['a']);
  });

  it('accepts exactly one of three concurrent appends', async () => {
    const one = subject();
    const outcomes = await Promise.allSettled(
      ['a', 'b', 'c'].map((value) => store.append(one, bytes(value), 0, newId())),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBe(1);
    expect((await texts(one)).length).toBe(1);
  });

  it('appends to several subjects in one call, and returns the messages whose condition does not hold', async () => {
    const [one, other] = [subject(), subject()];
    const first = await store.append(one, bytes('a'), 0, newId());
    const message = (of: string, expectedSeq: number) => {
      const msgId = newId();
      return { subject: of, data: bytes(msgId), expectedSeq, msgId };
    };
    const [good, stale, early, alone] = [
      message(one, first),
      message(other, first),
      message(one, 0),
      message(other, 0),
    ];
    expect(await store.appendAll([good, stale, early, alone])).toEqual(new Set([stale, early]));
    expect(await store.appendAll([good])).toEqual(new Set([good]));
    expect(await texts(one)).toEqual(['a', good.msgId]);
    expect(await texts(other)).toEqual([alone.msgId]);
  });

  it('refuses an append with a condition if its message id was stored before', async () => {
    const [one, id] = [subject(), newId()];
    const first = await store.append(one, bytes('a'), 0, id);
    await expect(store.append(one, bytes('b'), first, id)).rejects.toThrow(AppendConflict);
    expect(await texts(one)).toEqual(['a']);
  });

  it('stores nothing and reports no error if an append without a condition repeats a message id', async () => {
    const [one, id] = [subject(), newId()];
    await store.publish(one, bytes('a'), id);
    await store.publish(one, bytes('b'), id);
    expect(await texts(one)).toEqual(['a']);
  });

  it('accepts an append to a purged subject as to an empty subject', async () => {
    const one = subject();
    await store.append(one, bytes('a'), 0, newId());
    await bus.jsm.streams.purge('KEYWORDS', { filter: one });
    expect(await texts(one)).toEqual([]);
    await store.append(one, bytes('b'), 0, newId());
    expect(await texts(one)).toEqual(['b']);
  });

  it('stores the sequence of the preceding message with each message that is appended with a condition', async () => {
    const one = subject();
    const first = await store.append(one, bytes('a'), 0, newId());
    const second = await store.append(one, bytes('b'), first, newId());
    await store.publish(one, bytes('c'), newId());
    const headers = async (seq: number) => (await getMessage(bus, 'KEYWORDS', { seq }))?.header;
    expect([
      predecessorOf(await headers(first)),
      predecessorOf(await headers(second)),
      predecessorOf(await headers(second + 1)),
    ]).toEqual([0, first, undefined]);
  });
});
