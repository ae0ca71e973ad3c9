import type { Bus } from '#messaging';
import { MENTIONS_SINK } from '#projections';
import { until } from '#testing';
import { nextDue } from '../domain/digest-times.js';
import { EventsProgress } from '../projection-progress.js';
import { DigestsUnderTest, NOW, ZONE } from '../testing/digests-under-test.js';
import { DigestsLoop } from './digests.loop.js';

let fixture: DigestsUnderTest;

beforeAll(async () => {
  fixture = await DigestsUnderTest.open();
});
afterAll(() => fixture?.close());

/**
 * A stream that gets a new message before each read of its state. The consumer of the items lacks one message, and the
 * consumer of the mentions lacks all messages.
 */
function busyBus(): Bus {
  let last = 1000;
  const info = async () => ({ state: { last_seq: (last += 1) } });
  const consumer = async (_: string, name: string) => {
    const floor = name === MENTIONS_SINK ? 0 : last - 1;
    const position = { stream_seq: floor };
    return { ack_floor: position, delivered: position, num_pending: last - floor, num_ack_pending: 0 };
  };
  return { jsm: { streams: { info }, consumers: { info: consumer } } } as unknown as Bus;
}

it('a weekly report waits until the mentions of its week are in ClickHouse, but at most an hour [digests.report]', async () => {
  const scene = await fixture.scene('weekly_report');
  await scene.publish(scene.event('one'));
  await until('the item is stored', async () => {
    const rows: unknown[] = await fixture.database.query('SELECT 1 FROM digest_items WHERE keyword_id = $1', [
      scene.keywordId,
    ]);
    return rows.length === 1;
  });
  const { database, log } = fixture;
  const replica = new DigestsLoop(database, new EventsProgress(busyBus()), fixture.assembly(), log);
  const monday = nextDue('weekly_report', ZONE, NOW);
  const roundsUntil = async (minutes: number, from = 0) => {
    for (let minute = from; minute < minutes; minute += 0.5) await replica.round(monday + minute * 60_000);
  };
  await roundsUntil(59);
  expect(await scene.digests('weekly_report')).toEqual([]);
  await roundsUntil(65, 59);
  expect(await scene.digests('weekly_report')).toHaveLength(1);
});
