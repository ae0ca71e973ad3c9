import { Outage } from '#kernel';
import { until } from '#testing';
import { isReread } from './catch-up.js';
import type { Durable } from './durable.js';
import type { RunningDurable } from './durable-runner.js';
import { done, park, retry, wasHandledBefore } from './outcome.js';
import { DurableScene, type Seen } from './testing/durable-scene.js';
import { hangingReplicaTasks } from './testing/hanging-replica-tasks.js';

const DECISION_STREAMS = [
  'ACCOUNTS',
  'KEYWORDS',
  'CHANNELS',
  'CREDITS',
  'LABELS',
  'ALERTS',
  'EXPLORES',
  'REPLAYS',
] as const;
const scene = new DurableScene();
const { run, send, settled, parked } = scene;

beforeAll(() => scene.start());
afterAll(() => scene.stop());

describe('a durable consumer', () => {
  it('receives a message with the outcome `done` once, and a message again after each `retry`', async () => {
    const seen: Seen[] = [];
    const { name, running } = await run((batch) => {
      seen.push(...batch);
      return batch.map(({ text, deliveries }) => (text === 'again' && deliveries < 3 ? retry(1) : done));
    });
    await send('once', 'again');
    await settled(name);
    await running.stop();
    expect(seen.filter(({ text }) => text === 'once')).toEqual([{ text: 'once', deliveries: 1 }]);
    expect(seen.filter(({ text }) => text === 'again').map(({ deliveries }) => deliveries)).toEqual([
      1, 2, 3,
    ]);
  });

  it('parks a message with its reason', async () => {
    const { name, running } = await run((batch) => batch.map(() => park('not\r\na check')));
    await send('bad');
    await settled(name);
    await running.stop();
    expect(await parked(name)).toEqual([{ text: 'bad', reason: 'not a check', subject: scene.subject }]);
  });

  it('parks a message that fails at its eighth delivery, and handles the others', async () => {
    const good: string[] = [];
    const { name, running } = await run((batch) => {
      const poison = batch.find(({ text }) => text === 'poison');
      // The runner's own delays are long, so the first seven are replaced by short ones.
      if (poison && batch.length === 1 && poison.deliveries < 8) return [retry(1)];
      if (poison) throw new Error('cannot be read');
      good.push(...batch.map(({ text }) => text));
      return batch.map(() => done);
    });
    await send('a', 'poison', 'b', 'c');
    await settled(name);
    await running.stop();
    expect(good.sort()).toEqual(['a', 'b', 'c']);
    expect(await parked(name)).toEqual([
      { text: 'poison', reason: 'cannot be read', subject: scene.subject },
    ]);
  });

  it('does not park a message because of an outage, even at its ninth delivery', async () => {
    let failed = false;
    const { name, running } = await run((batch) => {
      if ((batch[0]?.deliveries ?? 0) < 9) return batch.map(() => retry(1));
      failed = true;
      throw new Outage('Postgres', new Error('Connection terminated unexpectedly'));
    });
    await send('innocent');
    await until('the outage was met', () => failed);
    await running.stop();
    expect(await parked(name)).toEqual([]);
    expect((await scene.bus.jsm.consumers.info('CHECKS', name)).num_ack_pending).toBe(1);
  });

  it('handles a message a second time after its batch has failed, and marks the message', async () => {
    const marks: boolean[] = [];
    const { name, running } = await run(() => [], 10, {
      handle: async (batch) => {
        marks.push(...batch.map(wasHandledBefore));
        if (marks.length === 1) throw new Error('defect');
        return batch.map(() => done);
      },
    });
    await send('a');
    await settled(name);
    await running.stop();
    expect(marks).toEqual([false, true]);
  });

  it('handles the messages of a batch one by one only from their fourth delivery if a store cannot answer', async () => {
    const handled: string[] = [];
    let [isFirstHere, allSent] = [false, false];
    const { name, running } = await run(async (batch) => {
      isFirstHere = true;
      await until('all messages are sent', () => allSent);
      handled.push(`${batch.map(({ text }) => text).join('')} ${batch[0]?.deliveries}`);
      const isBad = batch.some(({ text, deliveries }) => text === 'bad' || deliveries === 1);
      if (isBad && batch[0]?.text !== 'first') throw new Outage('Postgres', new Error('terminated'));
      return batch.map(() => done);
    });
    await send('first');
    // Without this wait, the first batch can contain "good" too.
    await until('the first message is being handled', () => isFirstHere);
    await send('good', 'bad');
    allSent = true;
    await until('the bad message was delivered four times', () => handled.includes('bad 4'));
    await running.stop();
    expect(handled).toContain('goodbad 1');
    expect(handled).not.toContain('good 1');
    expect(handled).not.toContain('bad 1');
    expect((await scene.bus.jsm.consumers.info('CHECKS', name)).num_ack_pending).toBe(1);
  });

  it.each(DECISION_STREAMS)(
    'does not park a message of %s that fails, even at its ninth delivery, and handles the others',
    async (stream) => {
      let failed = false;
      const good: string[] = [];
      const { name, running } = await run(
        (batch) => {
          const poison = batch.find(({ text }) => text === 'poison');
          if (poison && batch.length === 1 && poison.deliveries < 9) return [retry(1)];
          if (poison) failed ||= batch.length === 1;
          if (poison) throw new Error('cannot be read');
          good.push(...batch.map(({ text }) => text));
          return batch.map(() => done);
        },
        10,
        { stream },
      );
      await send('a', 'poison', 'b');
      await until('the others are handled, and the message has failed', () => failed && good.length === 2);
      await running.stop();
      expect(await parked(name)).toEqual([]);
      expect((await scene.bus.jsm.consumers.info(stream, name)).num_ack_pending).toBe(1);
    },
  );

  it('parks a message whose error only quotes the word timeout', async () => {
    const { name, running } = await run((batch) => {
      if ((batch[0]?.deliveries ?? 0) < 9) return batch.map(() => retry(1));
      throw new Error('the field timeout is not a number (connection refused)');
    });
    await send('bad');
    await settled(name);
    await running.stop();
    expect((await parked(name)).map(({ reason }) => reason)).toEqual([
      'the field timeout is not a number (connection refused)',
    ]);
  });

  it('continues after a message could not be parked', async () => {
    const { name, running } = await run((batch) => batch.map(() => park('bad')));
    await scene.bus.jsm.streams.delete('PARKED');
    await send('bad');
    await until(
      'the message was tried',
      async () => (await scene.bus.jsm.consumers.info('CHECKS', name)).num_redelivered > 0,
    );
    await scene.bus.jsm.streams.add({ name: 'PARKED', subjects: ['parked.>'] });
    await settled(name);
    await running.stop();
    expect((await parked(name)).map(({ text }) => text)).toEqual(['bad']);
  });

  it('retries a message whose outcome is missing', async () => {
    let calls = 0;
    const { name, running } = await run((batch) => {
      calls += 1;
      return calls === 1 ? [] : batch.map(() => done);
    });
    await send('a');
    await settled(name);
    await running.stop();
    expect(calls).toBe(2);
  });

  it('finishes its batch at a stop, starts no other batch, and leaves the other messages to its successor', async () => {
    const begun: string[] = [];
    let finish = () => {};
    const gate = new Promise<void>((resolve) => (finish = resolve));
    const { name, running, again } = await run(async (batch) => {
      begun.push(...batch.map(({ text }) => text));
      await gate;
      return batch.map(() => done);
    }, 1);
    await send('a', 'b', 'c');
    await until('the first batch has begun', () => begun.length === 1);
    const stopped = running.stop();
    finish();
    await stopped;
    expect(begun).toEqual(['a']);
    const successor: RunningDurable = await again();
    await settled(name);
    await successor.stop();
    expect([...new Set(begun)].sort()).toEqual(['a', 'b', 'c']);
    expect(begun.filter((text) => text === 'a')).toEqual(['a']);
  });

  it('handles each message once if two replicas run', async () => {
    const seen: string[] = [];
    const { name, running, again } = await run((batch) => {
      seen.push(...batch.map(({ text }) => text));
      return batch.map(() => done);
    }, 2);
    const second = await again();
    const texts = Array.from({ length: 30 }, (_, n) => `m${n}`);
    await send(...texts);
    await settled(name);
    await Promise.all([running.stop(), second.stop()]);
    expect(seen.sort()).toEqual(texts.sort());
  });

  it('is created again if it was deleted on the server', async () => {
    const seen: string[] = [];
    const { name, running } = await run((batch) => {
      seen.push(...batch.map(({ text }) => text));
      return batch.map(() => done);
    });
    await scene.bus.jsm.consumers.delete('CHECKS', name);
    await send('later');
    await until('the later message is handled', () => seen.includes('later'), 30_000);
    await running.stop();
  }, 40_000);

  it('neither parks nor acknowledges a message that fails while the consumer stops', async () => {
    let calls = 0;
    let fail = () => {};
    const gate = new Promise<void>((resolve) => (fail = resolve));
    const { name, running } = await run(async (batch) => {
      if (batch.some(({ deliveries }) => deliveries < 8)) return batch.map(() => retry(1));
      calls += 1;
      await gate;
      throw new Error('closed');
    }, 1);
    await send('a');
    await until('the handler has begun', () => calls === 1);
    const stopped = running.stop();
    fail();
    await stopped;
    expect(await parked(name)).toEqual([]);
    expect((await scene.bus.jsm.consumers.info('CHECKS', name)).num_ack_pending).toBe(1);
  });
});

hangingReplicaTasks(scene);

it('a consumer with a minimum time between batches handles a single message immediately, and the following messages together', async () => {
  const batches: string[][] = [];
  const { name, running } = await run(
    (batch) => {
      batches.push(batch.map(({ text }) => text));
      return batch.map(() => done);
    },
    10,
    { everyMs: 1000 },
  );
  await send('first');
  await until('the first message is handled', () => batches.length > 0);
  await send('second', 'third', 'fourth');
  await settled(name);
  await running.stop();
  expect(batches).toEqual([['first'], ['second', 'third', 'fourth']]);
});

it('a consumer with a minimum time between batches continues after the clock was set back by an hour', async () => {
  const seen: string[] = [];
  const { name, running } = await run(
    (batch) => {
      seen.push(...batch.map(({ text }) => text));
      return batch.map(() => done);
    },
    10,
    { everyMs: 100 },
  );
  await send('before');
  await settled(name);
  const now = Date.now.bind(Date);
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() - 3_600_000);
  await send('after');
  await settled(name).finally(() => clock.mockRestore());
  await running.stop();
  expect(seen).toEqual(['before', 'after']);
});

it('a consumer of some subjects gets only their messages, even if a purge has deleted the newest of them', async () => {
  const seen: string[] = [];
  let applied = 0;
  const consumer = await run(
    (batch) => {
      seen.push(...batch.map(({ text }) => text));
      return batch.map(() => done);
    },
    10,
    { subjects: `checks.part.*.*` },
  );
  await scene.bus.js.publish('checks.part.a.1', 'first');
  applied = (await scene.bus.js.publish('checks.part.a.2', 'second')).seq;
  await send('another subject');
  // This message is acknowledged and then deleted, as in a purge. Then the last message of the consumer is older than a
  // message on another subject.
  const purged = await scene.bus.js.publish('checks.part.b.1', 'purged');
  await settled(consumer.name);
  await consumer.running.stop();
  await scene.bus.jsm.streams.deleteMessage('CHECKS', purged.seq);
  const again = await consumer.again({ appliedUpTo: () => Promise.resolve(applied) });
  await scene.bus.js.publish('checks.part.a.3', 'third');
  await settled(consumer.name);
  await again.stop();
  expect(seen).toEqual(['first', 'second', 'purged', 'third']);
});

it('a consumer whose tables lack acknowledged messages gets these messages again, marked as reread', async () => {
  const marks: [string, boolean][] = [];
  const handle: Durable['handle'] = async (batch) => {
    for (const message of batch) marks.push([Buffer.from(message.data).toString(), isReread(message)]);
    return batch.map(() => done);
  };
  const consumer = await run(() => [], 10, { handle });
  await send('first');
  await settled(consumer.name);
  await consumer.running.stop();
  const again = await consumer.again({ appliedUpTo: () => Promise.resolve(0) });
  await send('second');
  await settled(consumer.name);
  await again.stop();
  expect(marks).toEqual([
    ['first', false],
    ['first', true],
    ['second', false],
  ]);
});
