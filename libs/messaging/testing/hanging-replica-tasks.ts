import { setTimeout as takingMs } from 'node:timers/promises';
import { until } from '#testing';
import type { Durable } from '../durable.js';
import { done } from '../outcome.js';
import type { DurableScene, Seen } from './durable-scene.js';

/** Defines tests of two replicas of a consumer, of which one does not finish its batch. */
export function hangingReplicaTasks(scene: DurableScene): void {
  const { run, send, settled } = scene;

  describe('a replica that hangs', () => {
    const texts = Array.from({ length: 300 }, (_, n) => `m${n}`);

    /**
     * Returns a replica that hangs while it handles its first batch of ten, and the messages that a second replica
     * gets.
     */
    async function hanging(more: Partial<Durable> = {}) {
      let begun = 0;
      let free = () => {};
      const gate = new Promise<void>((resolve) => (free = resolve));
      const { name, running, again } = await run(
        async (batch) => {
          begun += batch.length;
          await gate;
          return batch.map(() => done);
        },
        10,
        more,
      );
      await send(...texts);
      await until('the first replica hangs', () => begun > 0);
      const got = new Set<string>();
      const second = await again({
        handle: async (batch) => {
          for (const message of batch) got.add(message.string());
          return batch.map(() => done);
        },
      });
      return { name, begun: () => begun, free, got, running, second };
    }

    it('keeps at most its batch and the next batch, while other replicas get all other messages', async () => {
      const { name, free, got, running, second } = await hanging();
      await until('the second replica has the other messages', () => got.size >= texts.length - 20);
      await until(
        'all but two batches are acknowledged',
        async () => (await scene.bus.jsm.consumers.info('CHECKS', name)).num_ack_pending <= 20,
      );
      free();
      await settled(name);
      await Promise.all([running.stop(), second.stop()]);
    });

    it('loses its messages to the other replicas after its time limit, and receives no more', async () => {
      const { name, begun, free, got, running, second } = await hanging({ handleWithinMs: 500 });
      await until('the second replica has all messages', () => got.size === texts.length);
      await settled(name);
      await send('later');
      await until('the second replica has the later message', () => got.has('later'));
      expect(begun()).toBeLessThanOrEqual(10);
      free();
      await Promise.all([running.stop(), second.stop()]);
    });

    it('is distinguished from a replica that retries its messages one by one', async () => {
      const alone: Seen[] = [];
      const { name, running, again } = await run(
        async (batch) => {
          if (batch.length > 1) throw new Error('not all at once');
          alone.push(...batch);
          await takingMs(500);
          return batch.map(() => done);
        },
        10,
        { handleWithinMs: 800, lingerMs: 500 },
      );
      await send('a', 'b', 'c', 'd', 'e');
      await until('the first replica has begun', () => alone.length > 0);
      const second = await again();
      await settled(name);
      await Promise.all([running.stop(), second.stop()]);
      expect(alone.map(({ deliveries }) => deliveries)).toEqual([1, 1, 1, 1, 1]);
    });
  });
}
