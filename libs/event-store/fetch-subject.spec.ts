import { DeliverPolicy } from '@nats-io/jetstream';
import { Outage } from '#kernel';
import type { Bus } from '#messaging';
import { fakeOnly } from '#testing';
import { fetchSubject } from './fetch-subject.js';

beforeEach(() => jest.useFakeTimers(fakeOnly('setTimeout', 'clearTimeout')));
afterEach(() => jest.useRealTimers());

it('fetchSubject throws an outage and deletes its consumer if the messages do not arrive within 6 s', async () => {
  const remove = jest.fn(() => Promise.resolve(true));
  let stop: (error: Error) => void = () => undefined;
  const next = jest.fn(() => new Promise<never>((_, reject) => (stop = reject)));
  const messages = { stop: (error: Error) => stop(error), [Symbol.asyncIterator]: () => ({ next }) };
  const consumer = {
    info: () => Promise.resolve({ num_pending: 1 }),
    fetch: () => Promise.resolve(messages),
    delete: remove,
  };
  const bus = { js: { consumers: { get: () => Promise.resolve(consumer) } } } as unknown as Bus;
  const start = { deliver_policy: DeliverPolicy.All };
  const asked = { stream: 'EVENTS', subject: 'events.a.b', start, last: 1 } as const;
  const fetched = expect(fetchSubject(bus, asked, () => undefined)).rejects.toThrow(Outage);
  await new Promise(setImmediate);
  expect(next).toHaveBeenCalledTimes(1);
  jest.advanceTimersByTime(6000);
  await fetched;
  expect(remove).toHaveBeenCalledTimes(1);
});
