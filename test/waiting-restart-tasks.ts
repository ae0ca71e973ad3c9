import { until } from '#testing';
import { STEP, type WaitingStage } from './waiting-stage.js';

/** Analysis stops and starts while events wait for the language model. */
export function waitingRestartTasks(stage: () => WaitingStage): void {
  describe('a restart', () => {
    it('finishes all waiting events immediately if there is no language model [readings.model-removed]', async () => {
      await stage().stopAnalysis();
      const left = stage().scene();
      await left.ask('product=Acme', { analysis: true, ...STEP }, 110_000);
      await stage().startAnalysis({ LLM_URL: '' });
      expect(await left.event()).toMatchObject({
        ai: { status: 'failed', output: null },
        analysis: { reader: 'local' },
        charges: ['analysis 1', 'bucket 1'],
      });
      await stage().stopAnalysis();
    });

    it('releases the questions that were being asked at the stop, and asks them again', async () => {
      await stage().startAnalysis();
      stage().addFault('hang', 1);
      const scene = stage().scene();
      await scene.ask('product=Acme', STEP);
      await until('the model is asked', () => stage().requests > 0);
      await stage().stopAnalysis(4_000);
      const rows: unknown[] = await stage().database.query(
        "SELECT claim, due_at <= now() + interval '1 second' AS due FROM waiting_readings WHERE watch_id = $1",
        [scene.watchId],
      );
      expect(rows).toEqual([{ claim: null, due: true }]);
      await Promise.all([stage().startAnalysis(), stage().startAnalysis()]);
      expect(await scene.event()).toMatchObject({ ai: { status: 'completed' } });
    });

    it('lets two replicas answer each of many questions once, with one request per agent step', async () => {
      const scene = stage().scene();
      stage().simulator.requests.clear();
      await stage().store.publishAll(
        Array.from({ length: 60 }, (_, n) => scene.question(`product=Acme ${n}`, STEP)),
      );
      const events = await until('all are published', async () => {
        const found = await scene.events();
        return found.length >= 60 && found;
      });
      expect(new Set(events.map(({ id }) => id)).size).toBe(60);
      expect(stage().requests).toBe(60);
    });
  });
}
