/**
 * Measures how fast the analysis service finishes events while the language model hangs. All events wait for the model
 * and have the same deadline. The baseline is a plain loop that appends as many messages, each with the bytes of one
 * event.
 * `npm run -s build && node dist/bench/waiting.js`
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { create, toBinary } from '@bufbuild/protobuf';
import { EventSchema, ReadingAskedSchema, ReadingFactSchema } from '#contracts';
import { EventStore } from '#event-store';
import { eventIdOf, isoOf, newId } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { createLogger } from '#telemetry';
import { envelopeBytes } from '../apps/analysis/domain/envelope-of.js';
import { cpuText, cpuTimes } from './cpu-time.js';
import {
  benchStores,
  helpWanted,
  numberOption,
  runBench,
  printProgress,
  table,
  type Cleanup,
} from './harness.js';
import { programEnv, startProgram } from './program.js';

helpWanted(`
Usage: node dist/bench/waiting.js [--events 10000] [--wait 30]

Events with an agent step wait for a language model that accepts requests and never answers. All of them reach their deadline
at the same moment, --wait seconds after the bench has begun to store them. Prints how many events a second the built analysis service
finishes from that moment until the last one is in EVENTS. The baseline is a loop that appends as many answers and publishes
as many events, each with the bytes of the service's first event. Uses embedded stores. Takes about two minutes.
`);

const EVENTS = numberOption('events', 10_000);
const WAIT_SECONDS = numberOption('wait', 30);
const WATCHES = 50;
const BATCH = 200;
const LOOK_MS = 100;
const TIMEOUT_MS = 300_000;

await runBench(async (cleanup) => {
  const stores = await benchStores(cleanup);
  const bus = await connectBus(stores.natsUrl, 'bench', createLogger('bench', 'error'));
  cleanup.add(() => bus.close());
  const env = { LLM_URL: `${await startHangingModel(cleanup)}/v1`, LLM_MODEL: 'hangs' };
  const analysis = await startProgram('analysis', programEnv(stores, env), cleanup);
  const store = new EventStore(bus);
  const deadline = Date.now() + WAIT_SECONDS * 1000;
  const questions = makeQuestions(deadline);
  for (const batch of batchesOf(questions)) await store.publishAll(batch);
  if (Date.now() >= deadline) throw new Error('the events were not stored in time: use a larger --wait');
  printProgress(
    `${EVENTS} events wait; their deadline is in ${((deadline - Date.now()) / 1000).toFixed(0)} s`,
  );
  await wait(deadline - Date.now());
  const before = cpuTimes();
  await untilStored(bus, 'EVENTS', EVENTS);
  const seconds = (Date.now() - deadline) / 1000;
  const used = cpuText(before, cpuTimes());
  await analysis.stop();
  const bareSeconds = await appendBare(bus);
  table(
    ['', 'events/s', 'the last one after', 'ours / plain loop'],
    [
      ['analysis', ...figuresOf(seconds), (bareSeconds / seconds).toFixed(2)],
      ['plain loop', ...figuresOf(bareSeconds), ''],
    ],
  );
  console.log(`processor seconds: ${used}`);
});

function figuresOf(seconds: number): string[] {
  return [(EVENTS / seconds).toFixed(0), `${seconds.toFixed(1)} s`];
}

async function startHangingModel(cleanup: Cleanup): Promise<string> {
  const model = createServer(() => {});
  await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve));
  cleanup.add(() => {
    model.closeAllConnections();
    model.close();
  });
  return `http://127.0.0.1:${(model.address() as AddressInfo).port}`;
}

/** Returns messages of events that wait until `deadline` (epoch ms). */
function makeQuestions(deadline: number) {
  const watches = Array.from({ length: WATCHES }, () => ({
    accountId: newId(),
    watchId: newId(),
    keywordId: newId(),
  }));
  const at = isoOf(Date.now());
  return Array.from({ length: EVENTS }, (_, n) => {
    const ids = watches[n % WATCHES]!;
    const text = `Post ${n} about Acme`;
    const event = create(EventSchema, {
      ...{
        ...ids,
        eventId: eventIdOf(ids.watchId, String(n)),
        source: 'hackernews',
        type: 'hn_item.created',
      },
      ...{ occurredAt: at, push: true },
      matched: {
        item: {
          itemId: String(n),
          source: 'hackernews',
          kind: 'post',
          text,
          bodyJson: JSON.stringify({ text }),
        },
      },
    });
    const asked = create(ReadingAskedSchema, {
      draft: { ...event, envelope: envelopeBytes(event) },
      deadline: isoOf(deadline),
      subject: { names: ['Acme'], role: 'own' },
      agentStep: { instruction: 'Which product?', schema: { product: { type: 'string' } } },
    });
    const fact = create(ReadingFactSchema, { ...ids, at, fact: { case: 'asked', value: asked } });
    return {
      subject: subjectOf('READINGS', ids.accountId, ids.watchId, event.eventId),
      data: toBinary(ReadingFactSchema, fact),
      msgId: `${event.eventId}:asked`,
    };
  });
}

async function untilStored(bus: Bus, stream: 'EVENTS', count: number): Promise<void> {
  for (const end = Date.now() + TIMEOUT_MS; Date.now() < end; await wait(LOOK_MS))
    if ((await bus.jsm.streams.info(stream)).state.messages >= count) return;
  throw new Error(`${stream} has too few messages after ${TIMEOUT_MS / 1000} s`);
}

/** Appends as many answers and events as the service did, each with the bytes of its first event. @returns seconds */
async function appendBare(bus: Bus): Promise<number> {
  const store = new EventStore(bus);
  const event = (await bus.jsm.direct.getMessage('EVENTS', { seq: 1 }))!.data;
  const accountAndWatch = [newId(), newId()];
  const began = performance.now();
  for (const batch of batchesOf(Array.from({ length: EVENTS }, () => newId()))) {
    await Promise.all(
      batch.map((id) =>
        store.append(subjectOf('READINGS', ...accountAndWatch, id), event, 0, `${id}:answered`),
      ),
    );
    await store.publishAll(
      batch.map((msgId) => ({ subject: subjectOf('EVENTS', ...accountAndWatch), data: event, msgId })),
    );
  }
  return (performance.now() - began) / 1000;
}

function batchesOf<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / BATCH) }, (_, n) =>
    all.slice(n * BATCH, (n + 1) * BATCH),
  );
}
