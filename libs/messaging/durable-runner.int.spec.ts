import { setTimeout as takingMs } from 'node:timers/promises';
import { Outage } from '#kernel';
import { createLogger } from '#telemetry';
import { isolateStores, until, type IsolatedStores } from '#testing';
import { connectBus, type Bus } from './bus.js';
import { runDurable, type RunningDurable } from './durable-runner.js';
import type { Durable } from './durable.js';
import { done, park, retry, type Outcome } from './outcome.js';

const log = createLogger('spec', 'silent');
let stores: IsolatedStores;
let bus: Bus;
let specs = 0;

beforeAll(async () => {
  stores = await isolateStores();
  bus = await connectBus(stores.natsUrl, 'spec', log);
});
afterAll(async () => {
  await bus?.close();
  await stores?.drop();
});

interface Seen {
  text: string;
  deliveries: number;
}

/** A durable over a stream that is empty at its start; each call of `handle` is one batch. */
async function run(
  handle: (batch: Seen[]) => Outcome[] | Promise<Outcome[]>,
  batchSize = 10,
  more: Partial<Durable> = {},
) {
  specs += 1;
  await bus.jsm.streams.purge('CHECKS');
  const durable: Durable = {
    stream: 'CHECKS',
    name: `spec-${specs}`,
    batchSize,
    // The messages of a stopped consumer are delivered again after this time.
    ackWaitMs: 1000,
    handle: async (batch) =>
      handle(batch.map((message) => ({ text: message.string(), deliveries: message.info.deliveryCount }))),
    ...more,
  };
  return {
    name: durable.name,
    running: await runDurable(bus, durable, log),
    again: (other: Partial<Durable> = {}) => runDurable(bus, { ...durable, ...other }, log),
  };
}

async function send(...texts: string[]): Promise<void> {
  for (const text of texts) await bus.js.publish(`checks.spec.${specs}`, text);
}

const settled = (name: string) =>
  until('everything is settled', async () => {
    const info = await bus.jsm.consumers.info('CHECKS', name);
    return info.num_pending + info.num_ack_pending === 0;
  });

async function parked(name: string) {
  const found = [];
  const consumer = await bus.js.consumers.get('PARKED', { filter_subjects: `parked.CHECKS.${name}` });
  const waiting = (await consumer.info()).num_pending;
  for (let n = 0; n < waiting; n += 1) {
    const message = await consumer.next();
    if (message)
      found.push({
        text: message.string(),
        reason: message.headers?.get('earshot-reason'),
        subject: message.headers?.get('earshot-subject'),
      });
  }
  return found;
}

describe('a durable consumer', () => {
  it('does not receive a done message again, and receives a message to retry once more', async () => {
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
    expect(await parked(name)).toEqual([
      { text: 'bad', reason: 'not a check', subject: `checks.spec.${specs}` },
    ]);
  });

  it('parks a poison message after the eighth attempt, without delaying the others', async () => {
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
      { text: 'poison', reason: 'cannot be read', subject: `checks.spec.${specs}` },
    ]);
  });

  it('never parks a message because of an outage', async () => {
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
    expect((await bus.jsm.consumers.info('CHECKS', name)).num_ack_pending).toBe(1);
  });

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

  it('continues after parking itself has failed', async () => {
    const { name, running } = await run((batch) => batch.map(() => park('bad')));
    await bus.jsm.streams.delete('PARKED');
    await send('bad');
    await until(
      'it was tried',
      async () => (await bus.jsm.consumers.info('CHECKS', name)).num_redelivered > 0,
    );
    await bus.jsm.streams.add({ name: 'PARKED', subjects: ['parked.>'] });
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

  it('finishes its batch at a stop, starts no other, and leaves the rest to its successor', async () => {
    const begun: string[] = [];
    let finish = () => {};
    const gate = new Promise<void>((resolve) => (finish = resolve));
    const { name, running, again } = await run(async (batch) => {
      begun.push(...batch.map(({ text }) => text));
      await gate;
      return batch.map(() => done);
    }, 1);
    await send('a', 'b', 'c');
    await until('the first has begun', () => begun.length === 1);
    const stopped = running.stop();
    finish();
    await stopped;
    expect(begun).toEqual(['a']);
    const heir: RunningDurable = await again();
    await settled(name);
    await heir.stop();
    expect([...new Set(begun)].sort()).toEqual(['a', 'b', 'c']);
    expect(begun.filter((text) => text === 'a')).toEqual(['a']);
  });

  it('shares its messages with a second consumer of the same name', async () => {
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

  it('is created again when it was deleted on the server', async () => {
    const seen: string[] = [];
    const { name, running } = await run((batch) => {
      seen.push(...batch.map(({ text }) => text));
      return batch.map(() => done);
    });
    await bus.jsm.consumers.delete('CHECKS', name);
    await send('later');
    await until('it is handled', () => seen.includes('later'), 30_000);
    await running.stop();
  }, 40_000);

  it('leaves messages that fail during its stop to its successor, and parks none of them', async () => {
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
    await until('it has begun', () => calls === 1);
    const stopped = running.stop();
    fail();
    await stopped;
    expect(await parked(name)).toEqual([]);
    expect((await bus.jsm.consumers.info('CHECKS', name)).num_ack_pending).toBe(1);
  });
});

describe('a replica that hangs', () => {
  const texts = Array.from({ length: 300 }, (_, n) => `m${n}`);

  /** One that hangs over its first batch of ten, and what a second gets. */
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
    await until('it hangs', () => begun > 0);
    const got = new Set<string>();
    const second = await again({
      handle: async (batch) => {
        for (const message of batch) got.add(message.string());
        return batch.map(() => done);
      },
    });
    return { name, begun: () => begun, free, got, running, second };
  }

  it('withholds at most its batch and the next one from the others', async () => {
    const { name, free, got, running, second } = await hanging();
    await until('the second has the rest', () => got.size >= texts.length - 20);
    await until(
      'all but two batches are acknowledged',
      async () => (await bus.jsm.consumers.info('CHECKS', name)).num_ack_pending <= 20,
    );
    free();
    await settled(name);
    await Promise.all([running.stop(), second.stop()]);
  });

  it('loses its messages to the others after its time limit, and receives no more', async () => {
    const { name, begun, free, got, running, second } = await hanging({ handleWithinMs: 500 });
    await until('the second has all', () => got.size === texts.length);
    await settled(name);
    await send('later');
    await until('the second has that, too', () => got.has('later'));
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
    await until('it has begun', () => alone.length > 0);
    const second = await again();
    await settled(name);
    await Promise.all([running.stop(), second.stop()]);
    expect(alone.map(({ deliveries }) => deliveries)).toEqual([1, 1, 1, 1, 1]);
  });
});

it('a consumer with a shortest time between batches handles a single message at once, and the next ones together', async () => {
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
  await until('the first is handled', () => batches.length > 0);
  await send('second', 'third', 'fourth');
  await settled(name);
  await running.stop();
  expect(batches).toEqual([['first'], ['second', 'third', 'fourth']]);
});

it('a consumer of some subjects gets only their messages, and others do not count as missing in its tables', async () => {
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
  await bus.js.publish('checks.part.a.1', 'first');
  applied = (await bus.js.publish('checks.part.a.2', 'second')).seq;
  await send('another subject');
  // A message of the consumer was applied, acknowledged and purged: the last applied one is now older than other subjects'.
  const purged = await bus.js.publish('checks.part.b.1', 'purged');
  await settled(consumer.name);
  await consumer.running.stop();
  await bus.jsm.streams.deleteMessage('CHECKS', purged.seq);
  const again = await consumer.again({ appliedUpTo: () => Promise.resolve(applied) });
  await bus.js.publish('checks.part.a.3', 'third');
  await settled(consumer.name);
  await again.stop();
  expect(seen).toEqual(['first', 'second', 'purged', 'third']);
});
