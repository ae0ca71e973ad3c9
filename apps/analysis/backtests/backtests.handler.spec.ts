import { create } from '@bufbuild/protobuf';
import { RunBacktestSchema } from '#contracts';
import { newId } from '#kernel';
import type { Database } from '#postgres';
import { fakeOnly } from '#testing';
import { BacktestsHandler } from './backtests.handler.js';
import type { StoredMentions } from './stored-mentions.js';
import type { TestedAlerts } from './tested-alerts.js';

afterEach(() => jest.useRealTimers());

it('a backtest that waited more than a minute for others is refused, because its caller would leave before its end', async () => {
  jest.useFakeTimers(fakeOnly('performance'));
  let begin = () => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  let tested = 0;
  const mentions = {
    embedsEach: () => false,
    timeAtOffset: async () => undefined,
    async *testAll() {
      tested += 1;
      begin();
      await ended;
      yield [];
    },
  };
  const handler = new BacktestsHandler(
    { query: async () => [{}] } as unknown as Database,
    mentions as unknown as StoredMentions,
    { of: async () => [] } as unknown as TestedAlerts,
  );
  const run = () =>
    handler.run(
      create(RunBacktestSchema, {
        ...{ accountId: newId(), keywordId: newId(), commandId: newId() },
        ...{ definition: {}, since: '2026-01-01T00:00:00Z' },
      }),
    );
  const first = run();
  await begun;
  const second = expect(run()).rejects.toMatchObject({ kind: 'unavailable' });
  // The second backtest begins to wait.
  await new Promise(setImmediate);
  jest.advanceTimersByTime(61_000);
  end();
  await Promise.all([first, second]);
  expect(tested).toBe(1);
});
