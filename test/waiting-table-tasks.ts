import type { JsMsg } from '@nats-io/jetstream';
import { newId } from '#kernel';
import { batchesOf, subjectOf } from '#messaging';
import { applyBatch, forgetOldPositions, rebuildProjection } from '#projections';
import {
  WAITING_SUBJECTS,
  waitingReadingsProjection,
} from '../apps/analysis/projections/waiting-readings.projection.js';
import { EventRules } from '../apps/analysis/rules/event-rules.js';
import { Similarities } from '../apps/analysis/rules/similarities.js';
import { QuestionAnswers } from '../apps/analysis/waiting/question-answers.js';
import {
  claimOverdue,
  giveBack,
  renewClaims,
  Turns,
  type ClaimedQuestion,
} from '../apps/analysis/waiting/waiting-questions.js';
import { STEP, type Scene, type WaitingStage } from './waiting-stage.js';

/** Tests of the table of events that wait for the language model. */
export function waitingTableTasks(stage: () => WaitingStage): void {
  describe('the table of questions', () => {
    let quiet: Scene[];

    beforeAll(async () => {
      await stage().stopAnalysis();
      quiet = Array.from({ length: 3 }, () => stage().scene());
      const [busy, second, other] = quiet as [Scene, Scene, Scene];
      await addRows(busy, 10_000);
      await addRows(stage().scene(busy.accountId, second.watchId), 2);
      await addRows(other, 2);
    });

    const addRows = ({ accountId, watchId }: Scene, count: number) =>
      stage().database.query(
        `INSERT INTO waiting_readings (event_id, account_id, watch_id, seq, has_step, deadline_at, due_at)
       SELECT gen_random_uuid(), $1, $2, n, true, now() + interval '1 minute', now() + n * interval '1 microsecond'
       FROM generate_series(1, $3) AS n`,
        [accountId, watchId, count],
      );

    it('gives each account and each watch a turn, even if another has a long queue', async () => {
      const [busy, second, other] = quiet as [Scene, Scene, Scene];
      const turns = new Turns(stage().database);
      const taken: ClaimedQuestion[] = [];
      for (let n = 0; n < 8; n += 1) taken.push((await turns.next())[0]!);
      const count = (id: string) =>
        taken.filter(({ accountId, watchId }) => [accountId, watchId].includes(id)).length;
      expect([count(other.accountId), count(second.watchId)]).toEqual([2, 2]);
      expect(count(busy.watchId)).toBe(4);
      await giveBack(stage().database, [taken[0]!], Date.now());
    });

    it('returns at most 200 overdue questions in one call, and no question that a replica is asking at the moment', async () => {
      await stage().database.query(`UPDATE waiting_readings SET deadline_at = now() - interval '1 second'`);
      const overdue = await claimOverdue(stage().database);
      expect(overdue).toHaveLength(200);
      expect(overdue.every(({ wasUnderWay }) => !wasUnderWay)).toBe(true);
    });

    it('gives an overdue question to another replica only if the first replica has kept it too long', async () => {
      const { database } = stage();
      const late = (which: string) =>
        database.query(`UPDATE waiting_readings SET deadline_at = now() - interval '3 seconds' ${which}`);
      await database.query("UPDATE waiting_readings SET claim = NULL, due_at = now() - interval '1 second'");
      await late('');
      const portions = [await claimOverdue(database), await claimOverdue(database)].flat();
      expect(new Set(portions.map(({ eventId }) => eventId)).size).toBe(400);
      await database.query('DELETE FROM waiting_readings');
      const [scene] = quiet as [Scene];
      await addRows(scene, 1);
      const [asked] = await new Turns(database).next();
      await renewClaims(database, [asked!.claim]);
      // This subtracts one second more than `late` does, so that the order of the two times does not depend on
      // milliseconds.
      await late(", due_at = due_at - interval '4 seconds'");
      await renewClaims(database, [asked!.claim]);
      expect(await claimOverdue(database)).toMatchObject([{ eventId: asked!.eventId, wasUnderWay: true }]);
      expect(await claimOverdue(database)).toEqual([]);
      await database.query('DELETE FROM waiting_readings');
    });

    it('deletes the positions of questions that the stream does not keep any more', async () => {
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

    it('is not blocked by an event that cannot be finished: the events asked together with it are stored', async () => {
      const { database, store } = stage();
      const rules = new EventRules(new Similarities({ read: async () => [], close: async () => {} }));
      jest.spyOn(rules, 'run').mockRejectedValueOnce(new Error('no vectors'));
      const answers = new QuestionAnswers(database, store, rules);
      const asked = await Promise.all(
        Array.from({ length: 2 }, async () => {
          const scene = stage().scene();
          const { accountId, watchId } = scene;
          const eventId = await scene.ask('x', STEP);
          const subject = subjectOf('READINGS', accountId, watchId, eventId);
          const seq = await store.lastSeq('READINGS', subject);
          const claimed = { claim: newId(), tries: 1, deadlineAt: 0, wasUnderWay: false, cause: undefined };
          return { subject, claimed: { ...claimed, eventId, accountId, watchId, seq } };
        }),
      );
      const open = await answers.load(asked.map(({ claimed }) => claimed));
      const late = { step: { kind: 'late', why: 'late' } } as const;
      await expect(answers.append(open.map((question) => ({ question, answers: late })))).rejects.toThrow(
        'no vectors',
      );
      const facts = await Promise.all(asked.map(({ subject }) => store.read('READINGS', subject)));
      expect(facts.map((stored) => stored.length)).toEqual([1, 2]);
    });
  });
}
