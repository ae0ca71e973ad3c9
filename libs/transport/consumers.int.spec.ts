import type { JsMsg } from '@nats-io/jetstream';
import { headers } from '@nats-io/nats-core';
import { Controller, mixin, type Type } from '@nestjs/common';
import { connectBus, done, park, retry, type Bus, type ConsumerOptions, type Outcome } from '#messaging';
import { createLogger, currentTrace } from '#telemetry';
import { isolateStores, until, type IsolatedStores } from '#testing';
import { AppliedUpTo, ConsumerPattern } from './patterns.js';
import { startReplica } from './testing/strategy-under-test.js';

let stores: IsolatedStores;
let bus: Bus;
let specs = 0;

beforeAll(async () => {
  stores = await isolateStores();
  bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
});
beforeEach(async () => {
  specs += 1;
  await bus.jsm.streams.purge('CHECKS');
});
afterAll(async () => {
  await bus?.close();
  await stores?.drop();
});

const consumer = (more: Partial<ConsumerOptions> = {}): ConsumerOptions => ({
  stream: 'CHECKS',
  name: `spec-${specs}`,
  batchSize: 10,
  lingerMs: 100,
  ackWaitMs: 1000,
  ...more,
});

/** Creates a controller with one consumer, whose handler is the function. */
function handling(
  handle: (batch: readonly JsMsg[]) => Outcome[] | Promise<Outcome[]>,
  options = consumer(),
): Type {
  @Controller()
  class Handling {
    @ConsumerPattern(options)
    async handle(batch: readonly JsMsg[]): Promise<Outcome[]> {
      return handle(batch);
    }
  }
  return mixin(Handling);
}

async function send(...texts: string[]): Promise<void> {
  for (const text of texts) await bus.js.publish(`checks.spec.${specs}`, text);
}

const info = () => bus.jsm.consumers.info('CHECKS', `spec-${specs}`);
const settled = () =>
  until('everything is settled', async () => {
    const { num_pending, num_ack_pending } = await info();
    return num_pending + num_ack_pending === 0;
  });

/** Returns the reason of the last message that the consumer has parked. Empty if it has parked none. */
async function lastParkedReason(): Promise<(string | undefined)[]> {
  const message = await bus.jsm.streams.getMessage('PARKED', {
    last_by_subj: `parked.CHECKS.spec-${specs}`,
  });
  return message ? [message.header.get('earshot-reason')] : [];
}

describe('a consumer of a controller', () => {
  it('gets batches, and each message is done, retried or parked as its outcome says', async () => {
    const seen: string[][] = [];
    const replica = await startReplica(
      bus,
      handling((batch) => {
        seen.push(batch.map((message) => message.string()));
        return batch.map((message) => {
          if (message.string() === 'bad') return park('not a check');
          return message.string() === 'again' && message.info.deliveryCount === 1 ? retry(1) : done;
        });
      }),
    );
    await send('good', 'again', 'bad');
    await settled();
    await replica.stop();
    expect(seen.flat().sort()).toEqual(['again', 'again', 'bad', 'good']);
    expect(Math.max(...seen.map((batch) => batch.length))).toBeGreaterThan(1);
    expect(await lastParkedReason()).toEqual(['not a check']);
  });

  it('tries each message by itself if the batch fails, and parks a message with the error that the handler threw', async () => {
    const good: string[] = [];
    const replica = await startReplica(
      bus,
      handling((batch) => {
        const poison = batch.find((message) => message.string() === 'poison');
        if (poison && batch.length === 1 && poison.info.deliveryCount < 8) return [retry(1)];
        if (poison) throw new Error('cannot be read');
        good.push(...batch.map((message) => message.string()));
        return batch.map(() => done);
      }),
    );
    await send('a', 'poison', 'b');
    await settled();
    await replica.stop();
    expect(good.sort()).toEqual(['a', 'b']);
    // Nest's own filter would have replaced the error by "Internal server error".
    expect(await lastParkedReason()).toEqual(['cannot be read']);
  });

  it('handles a message within the trace of the message', async () => {
    let traceId: string | undefined;
    const replica = await startReplica(
      bus,
      handling((batch) => {
        traceId = currentTrace()?.traceId;
        return batch.map(() => done);
      }),
    );
    const traced = headers();
    traced.set('traceparent', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`);
    await bus.js.publish(`checks.spec.${specs}`, 'x', { headers: traced });
    await settled();
    await replica.stop();
    expect(traceId).toBe('a'.repeat(32));
  });

  it('handles each message once if the service has two replicas', async () => {
    const seen: string[] = [];
    const controller = handling(
      (batch) => {
        seen.push(...batch.map((message) => message.string()));
        return batch.map(() => done);
      },
      consumer({ batchSize: 2 }),
    );
    const replicas = [await startReplica(bus, controller), await startReplica(bus, controller)];
    const texts = Array.from({ length: 30 }, (_, n) => `m${n}`);
    await send(...texts);
    await settled();
    await Promise.all(replicas.map((replica) => replica.stop()));
    expect(seen.sort()).toEqual(texts.sort());
  });

  it('finishes its batch at a stop, and leaves the rest to the next replica', async () => {
    const begun: string[] = [];
    let finish = () => {};
    const gate = new Promise<void>((resolve) => (finish = resolve));
    const controller = handling(
      async (batch) => {
        begun.push(...batch.map((message) => message.string()));
        await gate;
        return batch.map(() => done);
      },
      consumer({ batchSize: 1 }),
    );
    const replica = await startReplica(bus, controller);
    await send('a', 'b', 'c');
    await until('the first batch has begun', () => begun.length === 1);
    const stopped = replica.stop();
    finish();
    await stopped;
    expect(begun).toEqual(['a']);
    const nextReplica = await startReplica(bus, controller);
    await settled();
    await nextReplica.stop();
    expect(begun.toSorted()).toEqual(['a', 'b', 'c']);
  });

  it('is named as interrupted if its batch hangs at the stop', async () => {
    let begun = false;
    let finish = () => {};
    const gate = new Promise<void>((resolve) => (finish = resolve));
    const replica = await startReplica(
      bus,
      handling(async (batch) => {
        begun = true;
        await gate;
        return batch.map(() => done);
      }),
    );
    await send('a');
    await until('the batch has begun', () => begun);
    expect(await replica.strategy.stop(20)).toEqual([`spec-${specs}`]);
    finish();
    await replica.stop();
  });

  it('is listed by the strategy, and cannot be declared twice in one service', async () => {
    const [once, twice] = [handling(() => []), handling(() => [])];
    const replica = await startReplica(bus, once);
    expect(replica.strategy.consumers).toEqual([consumer()]);
    await replica.stop();
    await expect(startReplica(bus, once, twice)).rejects.toThrow(`spec-${specs} has two handlers`);
  });
});

describe('tables that follow a stream', () => {
  it('are rebuilt at the start if they lack messages that their consumer has acknowledged', async () => {
    const options = consumer();
    let table: string[] = [];
    @Controller()
    class Following {
      @ConsumerPattern(options)
      async apply(batch: readonly JsMsg[]): Promise<Outcome[]> {
        table.push(...batch.map(({ data }) => new TextDecoder().decode(data)));
        return batch.map(() => done);
      }

      @AppliedUpTo(options)
      async appliedUpTo(): Promise<number> {
        return table.length === 0 ? 0 : Number.MAX_SAFE_INTEGER - 1;
      }
    }
    const first = await startReplica(bus, Following);
    await send('a', 'b');
    await settled();
    await first.stop();
    table = [];
    // The rebuild is complete when the start returns, so nothing reads half rebuilt tables.
    const second = await startReplica(bus, Following);
    expect(table).toEqual(['a', 'b']);
    await second.stop();
  });
});
