import { ClosedConnectionError, type Msg, type SubscriptionOptions } from '@nats-io/nats-core';
import type { Bus } from '#messaging';
import { publishWindow } from './publish-window.js';

afterEach(() => void jest.useRealTimers());

it('publishWindow fails if the connection is closed, and throws no second error later', async () => {
  jest.useFakeTimers();
  const subscribe = () => {
    throw new ClosedConnectionError();
  };
  const bus = { nc: { subscribe }, inboxPrefix: '_INBOX' } as unknown as Bus;
  const message = { subject: 'checks.a', data: new Uint8Array(), msgId: 'a' };
  await expect(publishWindow(bus, [message], () => undefined)).rejects.toThrow(ClosedConnectionError);
  expect(() => jest.advanceTimersByTime(60_000)).not.toThrow();
});

it.each([
  ['the storage of the account is full', { code: 400, err_code: 10_002 }, false],
  ['the stream is full', { code: 503, err_code: 10_077 }, false],
  ['the message is too large', { code: 400, err_code: 10_054 }, true],
])('publishWindow reports whether a message is at fault if %s', async (_, error, isAtFault) => {
  let answer: SubscriptionOptions['callback'];
  const nc = {
    subscribe: (_subject: string, options: SubscriptionOptions) => {
      answer = options.callback;
      return { unsubscribe: () => undefined };
    },
    publish: (_subject: string, _data: Uint8Array, { reply }: { reply: string }) => {
      const text = JSON.stringify({
        error: { ...error, description: 'said by the server' },
        stream: 'CHECKS',
      });
      void answer?.(null as never, { subject: reply, string: () => text } as Msg);
    },
  };
  const bus = { nc, inboxPrefix: '_INBOX' } as unknown as Bus;
  const message = { subject: 'checks.a', data: new Uint8Array(), msgId: 'a' };
  const { unanswered, refused } = await publishWindow(bus, [message], () => undefined);
  expect([unanswered, refused]).toEqual([[message], isAtFault]);
});
