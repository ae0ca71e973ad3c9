import { once } from 'node:events';
import { selectRows, whileCallerWaits, type ClickHouseClient } from '#clickhouse';
import type { Cursors } from '../../http/cursor.js';
import type { LiveMentions } from './live-mentions.js';
import { StreamPositions } from './stream-positions.js';

it('the caller of a list gets its position although another caller, for whom the position was read, has left', async () => {
  let respond = () => {};
  const clickhouse = {
    query: ({ abort_signal }: { abort_signal: AbortSignal }) =>
      Promise.race([
        new Promise((resolve) => (respond = () => resolve({ json: async () => [{ sequence: 7 }] }))),
        once(abort_signal, 'abort').then(() => Promise.reject(new Error('aborted'))),
      ]),
  } as unknown as ClickHouseClient;
  const live = {
    written: async () => (await selectRows<{ sequence: number }>(clickhouse, 'SELECT 7'))[0]!.sequence,
  };
  const cursors = { write: (_: unknown, { sequence }: { sequence: number }) => `position ${sequence}` };
  const positions = new StreamPositions(cursors as unknown as Cursors, live as unknown as LiveMentions);
  const leaving = new AbortController();
  const left = whileCallerWaits(leaving.signal, () => positions.beforeList('account'));
  const other = positions.beforeList('account');
  leaving.abort();
  await new Promise(setImmediate);
  respond();
  expect(await other).toBe('position 7');
  await left;
});
