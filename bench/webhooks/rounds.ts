import { setTimeout as wait } from 'node:timers/promises';
import { DeliverPolicy } from '@nats-io/jetstream';
import { attemptsIn } from '#contracts';
import type { Bus } from '#messaging';
import { cpuText, cpuTimes, type CpuTimes } from '../cpu-time.js';
import type { Peer } from '../peer.js';
import type { BenchProgram } from '../program.js';
import type { BareRun } from './bare-loop.js';
import type { BullRun } from './bullmq-worker.js';
import type { Received } from './receiver.js';
import { makeEvents, publish, type Scene, type SceneEvent } from './scene.js';

/** Concurrent requests of every program, equal to the limit of the delivery service over all endpoints. */
export const CONCURRENCY = 128;

/** The programs and connections of the bench. */
export interface Stage {
  bus: Bus;
  receiver: Peer;
  url: string;
  scene: Scene;
  /** Deletes the state of endpoints and deliveries in the tables of the delivery service. */
  forget(): Promise<void>;
}

/** The result of one program in a round. */
export interface Round {
  /** Deliveries per second. */
  rate: number;
  /** Processor time of the program's own process per delivery, in µs. */
  micros: number;
  /** Processor seconds of each program that used at least 0.05, as text. */
  cpu: string;
}

/**
 * Runs a round of the delivery service: fills EVENTS while the service is suspended, resumes it, and waits until the
 * receiver has every delivery and the service has acknowledged every event. The service acknowledges an event when its
 * attempts are stored.
 * @param options `onlyHealthy`: the result counts only the deliveries to healthy endpoints; `hangs`: the other endpoints
 * hang, so the receiver does not wait for their deliveries
 * @throws Error if ATTEMPTS lacks a delivery to a healthy endpoint, if a signature is wrong, or if no signature was
 * checked
 */
export async function deliverOurs(
  stage: Stage,
  delivery: BenchProgram,
  events: readonly SceneEvent[],
  { onlyHealthy = false, hangs = false } = {},
): Promise<Round> {
  const { bus, receiver, scene } = stage;
  const healthy = new Set(
    scene.watches.filter(({ path }) => path.startsWith('/hook/')).map(({ watchId }) => watchId),
  );
  const counted = events.filter(({ subject }) => healthy.has(subject.split('.')[2] ?? ''));
  const from = (await bus.jsm.streams.info('ATTEMPTS')).state.last_seq + 1;
  delivery.suspend();
  await publish(bus, events);
  const received = receiver.ask<Received>('expect', hangs ? counted.length : events.length);
  await receiver.ask('ready');
  const cpu = cpuTimes();
  const began = performance.now();
  delivery.resume();
  const { refused, checked } = await received;
  while (!(await isDrained(bus))) await wait(5);
  const round = roundOf('delivery', onlyHealthy ? counted.length : events.length, began, cpu);
  if (refused > 0 || checked === 0) throw new Error(`${refused} of ${checked} checked signatures are wrong`);
  const recorded = await deliveredSince(bus, from);
  const missing = counted.filter(({ id }) => !recorded.has(id)).length;
  if (missing > 0) throw new Error(`ATTEMPTS lacks ${missing} of ${counted.length} deliveries`);
  return round;
}

async function isDrained({ jsm }: Bus): Promise<boolean> {
  const { num_pending, num_ack_pending } = await jsm.consumers.info('EVENTS', 'delivery');
  return num_pending + num_ack_pending === 0;
}

/** Returns the events that were delivered according to ATTEMPTS, from a sequence on. */
async function deliveredSince({ js, jsm }: Bus, from: number): Promise<Set<string>> {
  const { last_seq: last } = (await jsm.streams.info('ATTEMPTS')).state;
  const delivered = new Set<string>();
  if (last < from) return delivered;
  const consumer = await js.consumers.get('ATTEMPTS', {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: from,
  });
  for await (const message of await consumer.consume()) {
    for (const attempt of attemptsIn(message.data)) if (attempt.delivered) delivered.add(attempt.eventId);
    if (message.seq >= last) break;
  }
  return delivered;
}

function roundOf(program: string, deliveries: number, began: number, before: CpuTimes): Round {
  const seconds = (performance.now() - began) / 1000;
  const after = cpuTimes();
  const used = (after.get(program) ?? 0) - (before.get(program) ?? 0);
  return {
    rate: deliveries / seconds,
    micros: (used * 1e6) / deliveries,
    cpu: cpuText(before, after),
  };
}

/** Runs a round of the bare loop with this number of deliveries. */
export async function deliverBare(
  { receiver, scene, url }: Stage,
  bare: Peer,
  count: number,
): Promise<Round> {
  const run: BareRun = {
    url,
    paths: scene.watches.map(({ path }) => path),
    concurrency: CONCURRENCY,
    secret: scene.secret,
    events: makeEvents(scene, count).map(({ id, body }) => ({ id, body })),
  };
  await bare.ask('fill', run);
  return measured(receiver, 'bare-loop', count, () => bare.ask('send'));
}

/** Runs a round of the BullMQ worker with this number of deliveries. */
export async function deliverBull(
  { receiver, url, scene }: Stage,
  bull: Peer,
  count: number,
): Promise<Round> {
  const events = makeEvents(scene, count).map(({ id, body }) => ({ id, body }));
  const paths = scene.watches.map(({ path }) => path);
  await bull.ask('fill', {
    url,
    paths,
    concurrency: CONCURRENCY,
    secret: scene.secret,
    events,
  } satisfies BullRun);
  const round = await measured(receiver, 'bullmq-worker', count, () => bull.ask('work'));
  await bull.ask('clear');
  return round;
}

async function measured(
  receiver: Peer,
  program: string,
  count: number,
  work: () => Promise<unknown>,
): Promise<Round> {
  const received = receiver.ask<Received>('expect', count);
  await receiver.ask('ready');
  const cpu = cpuTimes();
  const began = performance.now();
  await Promise.all([received, work()]);
  return roundOf(program, count, began, cpu);
}
