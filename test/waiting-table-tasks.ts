import type { JsMsg } from '@nats-io/jetstream';
import { batchesOf } from '#messaging';
import { applyBatch, forgetOldPositions, rebuildProjection } from '#projections';
import {
  WAITING_SUBJECTS,
  waitingReadingsProjection,
} from '../apps/analysis/projections/waiting-readings.projection.js';
import { claimOverdue, giveBack, Turns, type Claimed } from '../apps/analysis/waiting/waiting-questions.js';
import { STEP, type Scene, type WaitingStage } from './waiting-stage.js';

/** The table of the events that wait for the language model. */
export function waitingTableTasks(stage: () => WaitingStage): void {
  describe('the table of questions', () => {
    let quiet: Scene[];

    beforeAll(async () => {
      await stage().stopAnalysis();
      quiet = Array.from({ length: 3 }, () => stage().scene());
      const [busy, twin, other] = quiet as [Scene, Scene, Scene];
      await addRows(busy, 10_000);
      await addRows(stage().scene(busy.accountId, twin.watchId), 2);
      await addRows(other, 2);
    });

    const addRows = ({ accountId, watchId }: Scene, count: number) =>
      stage().database.query(
        `INSERT INTO waiting_readings (event_id, account_id, watch_id, seq, has_step, deadline_at, due_at)
       SELECT gen_random_uuid(), $1, $2, n, true, now() + interval '1 minute', now() + n * interval '1 microsecond'
       FROM generate_series(1, $3) AS n`,
        [accountId, watchId, count],
      );

    it('gives accounts and watches their turns, however long the queue of one is', async () => {
      const [busy, twin, other] = quiet as [Scene, Scene, Scene];
      const turns = new Turns(stage().database);
      const taken: Claimed[] = [];
      for (let n = 0; n < 8; n += 1) taken.push((await turns.next())[0]!);
      const count = (id: string) =>
        taken.filter(({ accountId, watchId }) => [accountId, watchId].includes(id)).length;
      expect([count(other.accountId), count(twin.watchId)]).toEqual([2, 2]);
      expect(count(busy.watchId)).toBe(4);
      await giveBack(stage().database, [taken[0]!], Date.now());
    });

    it('finishes what is overdue in portions, and leaves a request that is just ending to its replica', async () => {
      await stage().database.query(`UPDATE waiting_readings SET deadline_at = now() - interval '1 second'`);
      const overdue = await claimOverdue(stage().database);
      expect(overdue).toHaveLength(200);
      expect(overdue.every(({ wasUnderWay }) => !wasUnderWay)).toBe(true);
      await stage().database.query('DELETE FROM waiting_readings');
    });

    it('forgets the positions of questions that the stream does not keep any more', async () => {
      const add = `INSERT INTO projection_positions (projection, subject, seq) VALUES ($1, 'readings.a.b.old', 3), ($1, 'readings.a.b.new', 5)`;
      await stage().database.query(add, [waitingReadingsProjection.name]);
      await forgetOldPositions(stage().database.manager, waitingReadingsProjection, 5);
      const left: unknown[] = await stage().database.query(
        "SELECT subject FROM projection_positions WHERE subject LIKE 'readings.a.b.%'",
      );
      expect(left).toEqual([{ subject: 'readings.a.b.new' }]);
      await stage().database.query("DELETE FROM projection_positions WHERE subject LIKE 'readings.a.b.%'");
    });

    it('is the same after a rebuild', async () => {
      const scene = stage().scene();
      const questions = Array.from({ length: 5 }, (_, n) =>
        scene.question(`product=Acme ${n}`, STEP, 110_000),
      );
      await stage().store.publishAll(questions);
      for await (const batch of batchesOf(stage().bus, 'READINGS', 1, WAITING_SUBJECTS))
        await applyBatch(stage().database, waitingReadingsProjection, batch as unknown as JsMsg[]);
      const rows = () =>
        stage().database.query(
          'SELECT event_id, seq, has_step, deadline_at FROM waiting_readings ORDER BY event_id',
        );
      const { rebuild } = waitingReadingsProjection;
      await rebuildProjection(stage().database, stage().bus, {
        ...waitingReadingsProjection,
        rebuild: rebuild!,
      });
      const before: unknown[] = await rows();
      expect(before).toHaveLength(5);
      await stage().database.query('DELETE FROM waiting_readings');
      await rebuildProjection(stage().database, stage().bus, {
        ...waitingReadingsProjection,
        rebuild: rebuild!,
      });
      expect(await rows()).toEqual(before);
    });
  });
}
