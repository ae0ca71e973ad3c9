import { create, toBinary } from '@bufbuild/protobuf';
import { CheckSchema, ItemSchema, type Check } from '#contracts';
import { reserve } from '#credits';
import { chargeIdOf, checkIdOf, isoOf } from '#kernel';
import { subjectOf } from '#messaging';
import { openPollingStores, priced, type PollingStores } from '../testing/polling-under-test.js';
import { completedCheck, failedCheck } from './build-checks.js';
import { checkReservationOf } from '../read/check-reservation.js';
import { nextDue, originOf } from '../domain/next-due.js';
import { CheckRecorder, type WatchChecks } from './check-recorder.js';
import { claimDue } from '../due/claim-due.js';
import type { DueSearch, DueWatch } from '../due/due-work.js';
import { UpstreamError } from '#sources';
import { dueWorkTasks } from './../testing/due-work-tasks.js';

let stores: PollingStores;
let recorder: CheckRecorder;

beforeAll(async () => {
  stores = await openPollingStores();
  recorder = new CheckRecorder(stores.database, stores.store, () => Date.now());
});
afterAll(() => stores?.drop());
beforeEach(async () => {
  await stores.database.query('DELETE FROM watch_schedule');
  await stores.database.query('DELETE FROM upstream_searches');
});

/** Makes the watch due and claims it, like a lane. */
async function claim(watchId: string): Promise<{ search: DueSearch; watch: DueWatch }> {
  await stores.due(watchId);
  await stores.database.query(`UPDATE upstream_searches SET leased_until = 'epoch'`);
  const [search] = await claimDue(stores.database, 'hackernews:0', 10);
  const watch = search?.watches[0];
  if (!search || !watch) throw new Error('nothing was due');
  return { search, watch };
}

/** Returns the result of a read with these items for the watch. */
function checkOf(
  { search, watch }: { search: DueSearch; watch: DueWatch },
  items: Record<string, string>,
): WatchChecks {
  const matched = Object.entries(items).map(([itemId, text]) => ({
    item: create(ItemSchema, { itemId, source: 'hackernews', text }),
    matches: [],
  }));
  const fetched = { items: [], gap: false, warnings: [] };
  const answer = {
    kind: 'read' as const,
    fetched,
    state: {},
    readAt: new Date(),
    windowFrom: undefined,
    clockAheadMs: 0,
  };
  const parts = completedCheck(priced(search, watch), answer, matched, new Set(), new Date());
  return { search, watch, parts: () => parts };
}

async function scheduleOf(watchId: string) {
  const rows: {
    check_seq: number;
    covered_until: Date | null;
    next_due_at: Date;
    failed_at: Date | null;
  }[] = await stores.database.query(
    'SELECT *, time_of(due_second) AS next_due_at FROM watch_schedule WHERE watch_id = $1',
    [watchId],
  );
  if (!rows[0]) throw new Error('no such watch');
  return rows[0];
}

async function seenBy(watchId: string): Promise<string[]> {
  const rows: { item_id: string }[] = await stores.database.query(
    'SELECT item_id FROM seen_items WHERE watch_id = $1 ORDER BY item_id',
    [watchId],
  );
  return rows.map((row) => row.item_id);
}

/** Returns a watch after its baseline. */
async function begun(): Promise<string> {
  const id = await stores.watch({ backfill: true });
  await recorder.record([checkOf(await claim(id), {})], [], true);
  return id;
}

const itemsOf = (checks: readonly Check[]) =>
  checks.flatMap((check) => check.items.map(({ item }) => item?.itemId));
const large = 'x'.repeat(300 * 1024);

/** Appends parts of a check to the stream only, as if the recorder had died before it updated the tables. */
async function appendAndDie({ watch, parts: build }: WatchChecks, count = build().length): Promise<void> {
  const parts = build();
  let seq = watch.checkSeq;
  for (const part of parts.slice(0, count))
    seq = await stores.store.append(
      subjectOf('CHECKS', watch.accountId, watch.watchId),
      toBinary(CheckSchema, part),
      seq,
      `${part.checkId}:${part.part}`,
    );
}

describe('recording checks', () => {
  it('stores the check, remembers its items and moves the watch to its next tick', async () => {
    const id = await begun();
    const claimed = await claim(id);
    await recorder.record([checkOf(claimed, { 'hn:1': 'a' })], [], true);
    const row = await scheduleOf(id);
    const checks = await stores.checksOf(id);
    expect(itemsOf(checks)).toEqual(['hn:1']);
    expect(await seenBy(id)).toEqual(['hn:1']);
    expect([row.failed_at, row.covered_until?.toISOString()]).toEqual([null, checks.at(-1)?.windowTo]);
    expect(row.next_due_at.getTime() % 600_000).toBe(0);
    expect(row.next_due_at.getTime()).toBeGreaterThan(Date.now());
    expect((await claim(id)).watch.checkSeq).toBe(row.check_seq);
  });

  it('makes the watch due again at the first whole second that is not before the tick', async () => {
    const claimed = await claim(await stores.watch({ intervalSeconds: 7 }));
    const origin = originOf(claimed.search.searchKey, false);
    const tick = nextDue(Date.now(), 7000, 7000, origin);
    await recorder.record([checkOf(claimed, {})], [], false);
    const due = (await scheduleOf(claimed.watch.watchId)).next_due_at.getTime();
    // If a tick passed between the two computations, the tick after it is due.
    expect([tick, tick + 7000].map((ms) => Math.ceil(ms / 1000) * 1000)).toContain(due);
  });

  it('makes the watch due at a later second than its tick, even if our clock is behind that of Postgres', async () => {
    const id = await stores.watch({ intervalSeconds: 1 });
    const slow = new CheckRecorder(stores.database, stores.store, () => Date.now() - 3_600_000);
    const claimed = await claim(id);
    await slow.record([checkOf(claimed, {})], [], true);
    expect((await scheduleOf(id)).next_due_at.getTime()).toBe(claimed.watch.tick + 1000);
  });

  it('uses the check that a process stored before it died, and does not charge a second check [credits.charged-once]', async () => {
    const id = await begun();
    const claimed = await claim(id);
    await appendAndDie(checkOf(claimed, { 'hn:1': 'a' }));
    await recorder.record([checkOf(await claim(id), { 'hn:1': 'a', 'hn:2': 'b' })], [], true);
    const checks = await stores.checksOf(id);
    expect(checks.map(({ costCredits }) => costCredits)).toEqual([1, 1]);
    expect(itemsOf(checks)).toEqual(['hn:1']);
    // An item that the dead process had not seen is still new for the next check.
    expect(await seenBy(id)).toEqual(['hn:1']);
    expect((await scheduleOf(id)).covered_until?.toISOString()).toBe(checks.at(-1)?.windowTo);
    await recorder.record([checkOf(await claim(id), { 'hn:2': 'b' })], [], true);
    expect(itemsOf(await stores.checksOf(id))).toEqual(['hn:1', 'hn:2']);
  });

  it('releases the repeated reservation of a check that was already stored and charged', async () => {
    const id = await begun();
    const claimed = await claim(id);
    const { watch } = claimed;
    const reservationId = checkIdOf(id, isoOf(watch.tick));
    const reservation = { reservationId, accountId: watch.accountId, credits: 1, lifetimeSeconds: 600 };
    await appendAndDie(checkOf(claimed, {}));
    await reserve(stores.database, [reservation]);
    await recorder.record([checkOf(await claim(id), {})], [], true);
    // The charge of the check comes later, and will settle the reservation.
    await stores.database.query(
      `UPDATE credit_reservations SET expires_at = now() - interval '1 minute' WHERE expires_at < 'infinity'`,
    );
    expect(Object.keys(await stores.reservations())).toContain(reservationId);
    const again = await claim(id);
    const next = checkIdOf(id, isoOf(again.watch.tick));
    await appendAndDie(checkOf(again, {}));
    await stores.database.query(
      `INSERT INTO credit_movements (movement_id, account_id, seq, place, at, fact_at, kind, amount, balance_after,
         reference) VALUES ($1, $2, 1, 0, now(), now(), 'charge', -1, 0, $3)`,
      [chargeIdOf(next), watch.accountId, next],
    );
    await reserve(stores.database, [{ ...reservation, reservationId: next }]);
    await recorder.record([checkOf(again, {})], [], true);
    expect(Object.keys(await stores.reservations())).not.toContain(next);
  });

  it('reserves credits again for a stored check whose reservation expired or was released before the charge', async () => {
    await stores.database.query('DELETE FROM credit_reservations');
    const id = await begun();
    const claimed = await claim(id);
    await appendAndDie(checkOf(claimed, {}));
    await recorder.record([checkOf(await claim(id), {})], [], true);
    expect(await stores.reservations()).toEqual({ [checkIdOf(id, isoOf(claimed.watch.tick))]: 1 });
  });

  it('does not move the window after a check whose last parts were lost in a crash', async () => {
    const id = await begun();
    const { covered_until: before } = await scheduleOf(id);
    const found = { 'hn:1': large, 'hn:2': large, 'hn:3': large };
    await appendAndDie(checkOf(await claim(id), found), 1);
    await recorder.record([checkOf(await claim(id), found)], [], true);
    expect(itemsOf(await stores.checksOf(id))).toEqual(['hn:3']);
    expect((await scheduleOf(id)).covered_until).toEqual(before);
    expect(await seenBy(id)).toEqual(['hn:3']);
    await recorder.record([checkOf(await claim(id), { 'hn:1': large, 'hn:2': large })], [], true);
    expect(itemsOf(await stores.checksOf(id))).toEqual(['hn:3', 'hn:2', 'hn:1']);
    expect((await scheduleOf(id)).covered_until?.getTime()).toBeGreaterThan(before?.getTime() ?? 0);
  });

  it('continues to show the failure of a watch after a check whose last parts were lost in a crash', async () => {
    const id = await begun();
    const { search, watch } = await claim(id);
    const fault = new UpstreamError('server_error', 'down', 503);
    const parts = () => [failedCheck(search, watch, fault, undefined, new Date())];
    await recorder.record([{ search, watch, parts }], [], true);
    const { failed_at: failedAt } = await scheduleOf(id);
    expect(failedAt).toBeInstanceOf(Date);
    const found = { 'hn:1': large, 'hn:2': large };
    await appendAndDie(checkOf(await claim(id), found), 1);
    await recorder.record([checkOf(await claim(id), found)], [], true);
    expect((await scheduleOf(id)).failed_at).toEqual(failedAt);
  });

  it('makes another first check if a crash has lost parts of the first one', async () => {
    const id = await stores.watch({ backfill: true });
    await appendAndDie(checkOf(await claim(id), { 'hn:1': large, 'hn:2': large }), 1);
    await recorder.record([checkOf(await claim(id), { 'hn:1': large, 'hn:2': large })], [], true);
    const again = await claim(id);
    expect(again.watch.baselineAt).toBeUndefined();
    await recorder.record([checkOf(again, { 'hn:2': large })], [], true);
    expect((await stores.checksOf(id)).map(({ baseline }) => baseline)).toEqual([true, true]);
    expect((await claim(id)).watch.baselineAt).toBeGreaterThan(0);
  });

  it('makes only one check for a tick if two replicas have the same watch [requests.fact-ids]', async () => {
    const id = await begun();
    const claimed = await claim(id);
    const outcomes = await Promise.allSettled([
      recorder.record([checkOf(claimed, { 'hn:1': 'a' })], [], true),
      recorder.record([checkOf(claimed, { 'hn:1': 'a' })], [], true),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    const checks = await stores.checksOf(id);
    expect(checks.length).toBe(2);
    expect(itemsOf(checks)).toEqual(['hn:1']);
  });

  it('makes a further check if a tick comes again because the clock was set back', async () => {
    const id = await begun();
    const { search, watch } = await claim(id);
    await recorder.record([checkOf({ search, watch }, {})], [], true);
    const { check_seq: checkSeq } = await scheduleOf(id);
    // NATS still knows the id of the first check of this tick.
    await recorder.record([checkOf({ search, watch: { ...watch, checkSeq } }, {})], [], true);
    const [again] = await claimDue(stores.database, 'hackernews:0', 10);
    if (!again?.watches[0]) throw new Error('nothing was due');
    await recorder.record([checkOf({ search: again, watch: again.watches[0] }, {})], [], true);
    expect((await stores.checksOf(id)).length).toBe(3);
    expect((await scheduleOf(id)).next_due_at.getTime()).toBeGreaterThan(Date.now());
  });

  it('continues from the last message of the stream if the stream lost messages that the tables contain', async () => {
    const id = await begun();
    const claimed = await claim(id);
    await stores.bus.jsm.streams.purge('CHECKS', {
      filter: subjectOf('CHECKS', claimed.watch.accountId, id),
    });
    await recorder.record([checkOf(claimed, { 'hn:1': 'a' })], [], true);
    expect(await stores.checksOf(id)).toEqual([]);
    await recorder.record([checkOf(await claim(id), { 'hn:1': 'a' })], [], true);
    expect(itemsOf(await stores.checksOf(id))).toEqual(['hn:1']);
  });

  it.each([
    [
      'is too large for one message',
      (check: Check) => ({ ...check, warnings: [large, large, large, large] }),
    ],
    ['cannot be encoded', (check: Check) => ({ ...check, itemsSeen: 1.5 })],
  ])('stores a failed check in place of a check that %s, and records the other checks', async (_, spoil) => {
    const [bad, good] = [await begun(), await begun()];
    const reservations = { ...(await stores.reservations()) };
    const claimed = await claim(bad);
    // After nine failures the wait is longer than the interval, so the next tick would be too early.
    const spoiled = { ...claimed, search: { ...claimed.search, failures: 9 } };
    const sound = await claim(good);
    await reserve(stores.database, [
      {
        ...checkReservationOf(spoiled.search, spoiled.watch),
        accountId: spoiled.watch.accountId,
        credits: 1,
        lifetimeSeconds: 60,
      },
    ]);
    const parts = checkOf(spoiled, { 'hn:1': 'a' }).parts().map(spoil);
    const memory = {
      searchKey: spoiled.search.searchKey,
      state: { etag: 'new' },
      stateAt: new Date(),
      failures: 0,
    };
    const unstorable = await recorder.record(
      [{ ...spoiled, parts: () => parts }, checkOf(sound, { 'hn:1': 'a' })],
      [memory],
      true,
    );
    expect(unstorable.map(({ search }) => search.searchKey)).toEqual([spoiled.search.searchKey]);
    const last = (await stores.checksOf(bad)).at(-1);
    expect(last?.failure?.reason).toMatch(/one piece|could not be stored/);
    expect([last?.costCredits, last?.items.length]).toEqual([0, 0]);
    expect(Date.parse(last?.failure?.retryAt ?? '')).toBeGreaterThan(Date.now() + 600_000);
    const { next_due_at: due } = await scheduleOf(bad);
    expect(due.getTime()).toBeGreaterThanOrEqual(Date.parse(last?.failure?.retryAt ?? ''));
    expect(itemsOf(await stores.checksOf(good))).toEqual(['hn:1']);
    expect(await stores.reservations()).toEqual(reservations);
    const rows: object[] = await stores.database.query('SELECT failures, state FROM upstream_searches');
    expect(rows).toEqual([{ failures: 10, state: null }]);
  });

  it('records a failed check: the window does not move, and the next check waits until the given time', async () => {
    const id = await begun();
    const before = await scheduleOf(id);
    const { search, watch } = await claim(id);
    const notBefore = Date.now() + 3_600_000;
    const failedAt = new Date();
    const error = new UpstreamError('server_error', 'down', 503);
    const parts = [failedCheck(search, watch, error, new Date(notBefore), failedAt)];
    await recorder.record([{ search, watch, parts: () => parts, notBefore }], [], true);
    const row = await scheduleOf(id);
    expect(row).toMatchObject({ failed_at: failedAt, covered_until: before.covered_until });
    // The next check is due at the first whole second that is not before `notBefore`.
    expect(row.next_due_at.getTime()).toBe(Math.ceil(notBefore / 1000) * 1000);
  });
});

dueWorkTasks(
  () => stores,
  () => recorder,
  claim,
  begun,
);
