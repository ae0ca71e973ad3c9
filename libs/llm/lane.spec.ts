import { LlmLane } from './lane.js';
import { LlmError, type LlmErrorKind } from './llm-error.js';

/** A clock that only the spec moves. */
class ManualClock {
  ms = 1_000_000;
  now = () => new Date(this.ms);
}

let clock: ManualClock;
let lane: LlmLane;
const later = () => clock.ms + 120_000;
const answer = () => lane.run(later(), () => Promise.resolve('answer'));
const fail = (kind: LlmErrorKind, retryAfterMs?: number) =>
  expect(
    lane.run(later(), () => Promise.reject(new LlmError(kind, kind, retryAfterMs))),
  ).rejects.toMatchObject({ kind });

beforeEach(() => {
  clock = new ManualClock();
  lane = new LlmLane({ concurrency: 2, requestsPerMinute: 60 }, clock);
});
afterEach(() => lane.close());

it('the lane of the model sends as many requests at the same time as its concurrency', async () => {
  let running = 0;
  let max = 0;
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  const requests = Array.from({ length: 5 }, () =>
    lane.run(later(), async () => {
      max = Math.max(max, (running += 1));
      await gate;
      running -= 1;
    }),
  );
  expect(lane.room).toBe(0);
  release();
  await Promise.all(requests);
  expect([max, lane.room]).toEqual([2, 2]);
});

it('the lane of the model refuses a request whose turn after a burst would come after the deadline', async () => {
  for (let n = 0; n < 10; n += 1) await answer();
  expect(lane.room).toBe(0);
  await expect(lane.run(clock.ms + 500, () => Promise.resolve())).rejects.toMatchObject({ kind: 'no_turn' });
  clock.ms += 1000;
  expect(lane.room).toBe(2);
});

it('the lane of the model waits as long as the server asks', async () => {
  await fail('rate_limited', 7_000);
  expect([lane.room, lane.blockedForMs, lane.isDown]).toEqual([0, 7_000, false]);
  await expect(lane.run(clock.ms + 6_000, () => Promise.resolve())).rejects.toMatchObject({
    kind: 'no_turn',
  });
  clock.ms += 7_000;
  expect(lane.room).toBe(2);
  expect(await answer()).toBe('answer');
});

it('the lane of the model waits before each request, from five seconds up to a minute, after five failures in a row', async () => {
  for (let n = 0; n < 4; n += 1) await fail('server_error');
  expect([lane.isDown, lane.blockedForMs]).toEqual([false, 0]);
  await fail('network');
  expect([lane.isDown, lane.blockedForMs, lane.room]).toEqual([true, 5_000, 0]);
  clock.ms += 5_000;
  expect(lane.room).toBe(1);
  await fail('timeout');
  expect(lane.blockedForMs).toBe(10_000);
  for (let n = 0; n < 9; n += 1) {
    clock.ms += lane.blockedForMs;
    await fail('timeout');
  }
  expect(lane.blockedForMs).toBe(60_000);
  clock.ms += 60_000;
  await answer();
  expect([lane.isDown, lane.room]).toEqual([false, 2]);
});

it('the lane of the model waits as long as the server asks, but at least five seconds, if the server is down', async () => {
  for (let n = 0; n < 4; n += 1) await fail('rate_limited', 0);
  expect(lane.blockedForMs).toBe(0);
  await fail('rate_limited', 0);
  expect([lane.isDown, lane.blockedForMs]).toEqual([true, 5_000]);
  clock.ms += 5_000;
  await fail('rate_limited', 30_000);
  expect(lane.blockedForMs).toBe(30_000);
});

it('the lane of the model does not count a refusal or a missed deadline as a failure of the server', async () => {
  for (let n = 0; n < 6; n += 1) await fail('refused');
  for (let n = 0; n < 3; n += 1) await fail('server_error');
  await fail('deadline');
  await fail('deadline');
  expect([lane.isDown, lane.blockedForMs]).toEqual([false, 0]);
});

it('the lane of the model refuses every request after it was closed', async () => {
  lane.close();
  await expect(answer()).rejects.toMatchObject({ kind: 'network' });
});
