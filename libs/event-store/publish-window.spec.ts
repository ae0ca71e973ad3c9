import { ClosedConnectionError } from '@nats-io/nats-core';
import type { Bus } from '#messaging';
import { publishWindow } from './publish-window.js';

afterEach(() => void jest.useRealTimers());

it('fails once if the connection is closed, and not again later', async () => {
  jest.useFakeTimers();
  const subscribe = () => {
    throw new ClosedConnectionError();
  };
  const bus = { nc: { subscribe }, inboxPrefix: '_INBOX' } as unknown as Bus;
  const message = { subject: 'checks.a', data: new Uint8Array(), msgId: 'a' };
  await expect(publishWindow(bus, [message], () => undefined)).rejects.toThrow(ClosedConnectionError);
  expect(() => jest.advanceTimersByTime(60_000)).not.toThrow();
});
