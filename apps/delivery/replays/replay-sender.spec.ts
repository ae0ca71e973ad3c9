import { Outage } from '#kernel';
import type { Database } from '#postgres';
import { createLogger } from '#telemetry';
import type { AttemptRecorder } from '../attempts/attempt-recorder.js';
import type { Delivery } from '../attempts/delivery.js';
import type { EndpointQueues } from '../attempts/endpoint-queues.js';
import type { Endpoint } from '../attempts/targets.js';
import type { EventIndex, IndexedEvent } from './event-index.js';
import type { ClaimedReplay } from './replay-progress.js';
import { ReplaySender } from './replay-sender.js';

const EVENTS = ['first', 'second', 'third'].map((id, n) => ({ id, at: String(n), watchId: '', seq: n }));

const queues = {
  attempt: jest.fn((delivery: Delivery) => Promise.resolve({ delivery, delivered: true })),
};
const record = jest.fn().mockResolvedValue(undefined);

/** Sends all events. Reading the event with this id fails. */
function send(unreadable: string) {
  const index = {
    read: ({ id }: IndexedEvent) =>
      id === unreadable ? Promise.reject(new Outage('NATS', 'test')) : Promise.resolve({ eventId: id }),
  };
  const sender = new ReplaySender(
    ...([{} as Database, index as unknown as EventIndex, queues as unknown as EndpointQueues] as const),
    ...([{ record } as unknown as AttemptRecorder, createLogger('spec', 'silent')] as const),
  );
  const replay = { replayId: 'replay', ratePerSecond: 1000 } as ClaimedReplay;
  return sender.send(replay, EVENTS, {} as Endpoint, new AbortController().signal);
}

beforeEach(() => record.mockClear());

it('the attempts of a turn are recorded if NATS cannot answer in the middle of the turn', async () => {
  expect(await send('third')).toEqual({ id: 'second', at: '1' });
  const [[results]] = record.mock.calls as [[{ delivery: Delivery }[]]];
  expect(results.map(({ delivery }) => delivery.eventId)).toEqual(['first', 'second']);
});

it('a turn fails if NATS cannot answer before the first attempt of the turn', async () => {
  await expect(send('first')).rejects.toThrow(Outage);
  expect(record).not.toHaveBeenCalled();
});

it('a turn does not last longer if the clock is set back in the middle of the turn', async () => {
  const now = Date.now.bind(Date);
  const clock = jest.spyOn(Date, 'now');
  queues.attempt.mockImplementationOnce((delivery) => {
    clock.mockImplementation(() => now() - 3_600_000);
    return Promise.resolve({ delivery, delivered: true });
  });
  await send('').finally(() => clock.mockRestore());
  const [[results]] = record.mock.calls as [[unknown[]]];
  expect(results.length).toBe(EVENTS.length);
});
