import { create, toBinary } from '@bufbuild/protobuf';
import { ReplayDecisionSchema } from '#contracts';
import { isoOf, newId } from '#kernel';
import { applyNext } from '#projections';
import { createLogger } from '#telemetry';
import { until } from '#testing';
import type { Targets } from '../attempts/targets.js';
import { replaysProjection } from '../projections/replays.projection.js';
import { openDelivery, type DeliveryUnderTest } from '../testing/delivery-under-test.js';
import type { EventIndex } from './event-index.js';
import type { ReplayDecisions } from './replay-decisions.js';
import { claimReplays, endTurn } from './replay-progress.js';
import type { ReplaySender } from './replay-sender.js';
import { ReplayLoop } from './replay.loop.js';

let delivery: DeliveryUnderTest;

beforeAll(async () => (delivery = await openDelivery()));
afterAll(() => delivery?.drop());

/** Stores a replay that is due after this time. */
async function replayDueIn(time: string): Promise<void> {
  const { database, accountId } = delivery;
  const watchId = await delivery.watch('http://receiver.example.org/');
  await database.query(
    `INSERT INTO replays (replay_id, account_id, watch_id, since, until, url, types, rate_per_second, up_to_seq, status, created_at, due_at)
     VALUES ($1, $2, $3, now(), now(), 'http://receiver.example.org/', '{}', 1, 0, 'running', now(), now() + $4::interval)`,
    [newId(), accountId, watchId, time],
  );
}

it('a replay continues immediately if its next turn is an hour ahead, because then the clock was set back', async () => {
  const { database } = delivery;
  await replayDueIn('1 hour');
  const [claimed] = await claimReplays(database, 8, []);
  // Another replica leaves the running turn.
  await database.query(`UPDATE replays SET due_at = now() + interval '1 hour'`);
  expect(await claimReplays(database, 8, [])).toEqual([]);
  await endTurn(database.manager, claimed!, { after: undefined, missing: 0, waitMs: 1000 });
  expect(await claimReplays(database, 8, [])).toEqual([]);
  await database.query('DELETE FROM replays');
});

it.each([
  ['', 8],
  [', also if the claim has ended while Postgres could not answer', -8],
])('no replica claims a replay again while a turn takes longer than its claim%s', async (_, leftSeconds) => {
  const { database } = delivery;
  await replayDueIn('-1 minute');
  // The turn waits until the end of the test, as it does while a store cannot answer.
  let end: () => void = () => undefined;
  const holds = jest.fn(() => new Promise<boolean>((resolve) => (end = () => resolve(false))));
  const loop = new ReplayLoop(
    ...([database, { holds } as unknown as EventIndex, {} as Targets] as const),
    ...([{} as ReplayDecisions, {} as ReplaySender, createLogger('spec', 'silent')] as const),
  );
  loop.start();
  await until('the turn has begun', () => holds.mock.calls.length === 1);
  await database.query(`UPDATE replays SET due_at = now() + make_interval(secs => $1)`, [leftSeconds]);
  await until('the claim is extended', async () => {
    const rows: unknown[] = await database.query(
      `SELECT 1 FROM replays WHERE due_at > now() + interval '10 seconds'`,
    );
    return rows.length === 1;
  });
  expect(holds).toHaveBeenCalledTimes(1);
  end();
  await loop.stop();
  await database.query('DELETE FROM replays');
});

it('a replay of an older release whose `since` is in the year 0 can be claimed', async () => {
  const { database, accountId } = delivery;
  const replayId = newId();
  const value = { since: '0000-12-31T23:00:00.000Z', until: isoOf(Date.now()), ratePerSecond: 1 };
  const decision = create(ReplayDecisionSchema, {
    ...{ commandId: newId(), accountId, replayId, decidedAt: isoOf(Date.now()) },
    events: [{ event: { case: 'requested', value } }],
  });
  const data = toBinary(ReplayDecisionSchema, decision);
  await database.transaction((tx) =>
    applyNext(tx, replaysProjection, { subject: replayId, seq: 1, predecessor: 0, data, cause: undefined }),
  );
  const [claimed] = await claimReplays(database, 8, []);
  expect(claimed?.since.toISOString()).toBe(value.since);
});
