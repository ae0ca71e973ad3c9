import { until } from '#testing';
import { done, later, type Outcome } from './outcome.js';
import { DurableScene } from './testing/durable-scene.js';

const scene = new DurableScene();
const { run, send, settled, parked } = scene;

beforeAll(() => scene.start());
afterAll(() => scene.stop());

/** An outcome that the spec decides. */
class Decision {
  decide!: (outcome: Outcome) => void;
  refuse!: (error: Error) => void;
  readonly outcome = new Promise<Outcome>((resolve, reject) => {
    this.decide = resolve;
    this.refuse = reject;
  });
}

const unacknowledged = async (name: string) =>
  (await scene.bus.jsm.consumers.info('CHECKS', name)).num_ack_pending;

describe('a message whose outcome comes later', () => {
  it('stays unacknowledged and does not delay the next batch', async () => {
    const decision = new Decision();
    const seen: string[] = [];
    const { name, running } = await run((batch) => {
      seen.push(...batch.map(({ text }) => text));
      return batch.map(({ text }) => (text === 'late' ? later(decision.outcome) : done));
    }, 1);
    await send('late', 'next', 'last');
    await until('the other messages are handled', () => seen.includes('last'));
    await until('the other messages are acknowledged', async () => (await unacknowledged(name)) === 1);
    decision.decide(done);
    await settled(name);
    await running.stop();
    expect(seen).toEqual(['late', 'next', 'last']);
  });

  it('is not given to another replica before its outcome is known', async () => {
    const decision = new Decision();
    const handledAt: number[] = [];
    const { name, running, again } = await run(
      (batch) => batch.map(() => (handledAt.push(Date.now()), later(decision.outcome))),
      10,
      { ackWaitMs: 300 },
    );
    const second = await again();
    await send('late');
    await until('three ack waits are over', () => Date.now() > (handledAt[0] ?? Infinity) + 900);
    decision.decide(done);
    await settled(name);
    await Promise.all([running.stop(), second.stop()]);
    expect(handledAt.length).toBe(1);
  });

  it('is tried alone after its batch failed, because another message of the batch can be at fault', async () => {
    const together = new Decision();
    together.refuse(new Error('one of them is bad'));
    const sizes: number[] = [];
    const { name, running } = await run(
      (batch) => {
        sizes.push(batch.length);
        return batch.map(() => (batch.length > 1 ? later(together.outcome) : done));
      },
      10,
      { lingerMs: 100 },
    );
    await send('good', 'bad');
    await settled(name);
    await running.stop();
    expect(sizes).toEqual([2, 1, 1]);
  });

  it('is tried alone after its batch failed: one message at a time, and once for each delivery', async () => {
    const refused = (error: string) => later(Promise.reject(new Error(error)));
    let running = 0;
    let most = 0;
    const calls: string[] = [];
    const { name, running: consumer } = await run(
      async (batch) => {
        calls.push(batch.map(({ text, deliveries }) => `${text}${deliveries}`).join(' '));
        if (batch.length > 1) return batch.map(() => refused('one of them is bad'));
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        const [first] = batch;
        return first?.text === 'bad' && first.deliveries === 1 ? [refused('bad')] : [done];
      },
      10,
      { lingerMs: 100 },
    );
    await send('a', 'b', 'c', 'bad');
    await settled(name);
    await consumer.stop();
    expect(most).toBe(1);
    expect(calls).toEqual(['a1 b1 c1 bad1', 'a1', 'b1', 'c1', 'bad1', 'bad2']);
  });

  it('is not parked if a stop rejects its outcome', async () => {
    const decision = new Decision();
    let isLast = false;
    const { name, running } = await run((batch) => {
      isLast = batch.every(({ deliveries }) => deliveries >= 8);
      return batch.map(() => (isLast ? later(decision.outcome) : soon));
    });
    await send('late');
    await until('the message is delivered for the eighth time', () => isLast);
    const stopped = running.stop();
    decision.refuse(new Error('the pool is closed'));
    await stopped;
    expect(await parked(name)).toEqual([]);
  });

  it('counts toward the maximum of two batches for one replica, so that another replica gets the following messages', async () => {
    const decision = new Decision();
    let begun = 0;
    const { name, running, again } = await run((batch) => {
      begun += batch.length;
      return batch.map(() => later(decision.outcome));
    }, 2);
    await send('a', 'b', 'c', 'd', 'e', 'f');
    await until('the first replica holds two batches', () => begun === 4);
    const others: string[] = [];
    const second = await again({
      handle: (batch) => {
        others.push(...batch.map((message) => message.string()));
        return Promise.resolve(batch.map(() => done));
      },
    });
    await until('the second replica gets the other messages', () => others.length === 2);
    decision.decide(done);
    await settled(name);
    await Promise.all([running.stop(), second.stop()]);
    expect(begun).toBe(4);
  });

  it('is delivered again after a failure, and parked if it fails at its eighth delivery', async () => {
    const failing = new Decision();
    failing.refuse(new Error('cannot be recorded'));
    const deliveries: number[] = [];
    const { name, running } = await run((batch) => {
      deliveries.push(...batch.map((one) => one.deliveries));
      return batch.map((one) =>
        // The runner's own delays are long, so most of them are replaced by short ones.
        later(one.deliveries === 1 || one.deliveries === 8 ? failing.outcome : Promise.resolve(soon)),
      );
    });
    await send('late');
    await settled(name);
    await running.stop();
    expect(deliveries).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(await parked(name)).toEqual([
      { text: 'late', reason: 'cannot be recorded', subject: scene.subject },
    ]);
  });

  it('is finished before the consumer has stopped', async () => {
    const decision = new Decision();
    let begun = false;
    const { name, running } = await run((batch) => {
      begun = true;
      return batch.map(() => later(decision.outcome));
    });
    await send('late');
    await until('the message has begun', () => begun);
    let hasStopped = false;
    const stopped = running.stop().then(() => (hasStopped = true));
    expect(await unacknowledged(name)).toBe(1);
    expect(hasStopped).toBe(false);
    decision.decide(done);
    await stopped;
    expect(await unacknowledged(name)).toBe(0);
  });
});

const soon: Outcome = { kind: 'retry', afterMs: 1 };
