import { headers as natsHeaders } from '@nats-io/nats-core';
import { connectBus, subjectOf, type Bus, type StreamName } from '#messaging';
import { createLogger } from '#telemetry';
import { isolateStores, type IsolatedStores } from '#testing';
import { listParked, removeParked, retryParked } from './parked.js';

let stores: IsolatedStores;
let bus: Bus;

beforeAll(async () => {
  stores = await isolateStores();
  bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
});
afterAll(async () => {
  await bus?.close();
  await stores?.drop();
});

/** Parks a message of a stream. @returns its number in PARKED */
async function park(stream: StreamName): Promise<number> {
  const headers = natsHeaders();
  headers.set('earshot-stream', stream);
  headers.set('earshot-subject', subjectOf(stream, 'a', 'b'));
  headers.set('earshot-reason', 'cannot be read');
  return (await bus.js.publish(subjectOf('PARKED', stream, 'spec'), 'data', { headers })).seq;
}

const messagesOf = async (stream: StreamName) => (await bus.jsm.streams.info(stream)).state.messages;
const listed = async () => (await listParked(bus)).map(({ seq }) => seq);

describe('a parked message', () => {
  it('is stored in its stream again and leaves the list when it is retried', async () => {
    const seq = await park('EVENTS');
    expect(await listed()).toEqual([seq]);
    expect(await retryParked(bus, seq)).toEqual({ seq, subject: 'events.a.b', retried: true });
    expect([await messagesOf('EVENTS'), await listed()]).toEqual([1, []]);
  });

  it('is not retried if it is a decision: the error states the consumer and the command that removes it', async () => {
    const seq = await park('KEYWORDS');
    const refusal = retryParked(bus, seq);
    await expect(refusal).rejects.toThrow('KEYWORDS would contain the decision twice');
    await expect(refusal).rejects.toThrow('the consumer spec has not processed it');
    await expect(refusal).rejects.toThrow(`parked remove ${seq}`);
    expect([await messagesOf('KEYWORDS'), await listed()]).toEqual([0, [seq]]);
    await removeParked(bus, seq);
  });

  it('leaves the list when it is removed, and is not stored in its stream', async () => {
    const seq = await park('CHECKS');
    expect(await removeParked(bus, seq)).toEqual({ seq, removed: true });
    expect([await messagesOf('CHECKS'), await listed()]).toEqual([0, []]);
  });

  it('cannot be retried or removed if it does not exist', async () => {
    for (const act of [retryParked, removeParked])
      await expect(act(bus, 999)).rejects.toThrow('There is no parked message 999');
  });

  it('is retried if only a newer release knows its stream', async () => {
    const stream = 'FUTURE' as StreamName;
    await bus.jsm.streams.add({ name: stream, subjects: ['future.>'] });
    const seq = await park(stream);
    expect(await retryParked(bus, seq)).toEqual({ seq, subject: 'future.a.b', retried: true });
    expect([await messagesOf(stream), await listed()]).toEqual([1, []]);
  });

  it('is not reported as missing if NATS cannot be reached', async () => {
    const seq = await park('EVENTS');
    const unreachable = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
    await unreachable.close();
    for (const act of [retryParked, removeParked])
      await expect(act(unreachable, seq)).rejects.toMatchObject({ name: 'ClosedConnectionError' });
    await removeParked(bus, seq);
  });
});
