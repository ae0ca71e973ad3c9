/**
 * Measures how many digests a second the services analysis and delivery assemble and send as mails to a local mail
 * server, and the memory of these services. For comparison, a bare loop sends the same rendered mails.
 * `npm run -s build && node dist/bench/digests.js`
 */
import { setTimeout as wait } from 'node:timers/promises';
import { attemptsIn } from '#contracts';
import { connectBus, type Bus } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { cpuText, cpuTimes } from './cpu-time.js';
import type { BareMails } from './digests/bare-mailer.js';
import { fillKeywords, makeDue, PUBLIC_URL } from './digests/scene.js';
import type { ReceivedMails } from './digests/sink.js';
import {
  benchStores,
  helpWanted,
  load,
  numberOption,
  runBench,
  printProgress,
  table,
  type Cleanup,
} from './harness.js';
import { Peer } from './peer.js';
import { programEnv, startProgram, type BenchProgram } from './program.js';
import { memoryBelow } from './soak/memory.js';

helpWanted(`
Usage: node dist/bench/digests.js [--digests 10000] [--items 10] [--accept-ms 0]

Daily digests are due at the same time, each for a keyword with a separate email channel. The built analysis service assembles
them, and the built delivery service sends them to a mail server in a separate process. For comparison, a bare loop of
nodemailer sends the same mails to this server. Uses embedded stores. Takes about two minutes, at most four with 10,000 digests.
  --accept-ms MS  the time that the mail server takes to accept a mail
`);

const DIGESTS = numberOption('digests', 10_000);
const ITEMS = numberOption('items', 10);
const ACCEPT_MS = numberOption('accept-ms', 0);
/** Connections to the mail server: as many as the delivery service has. */
const CONNECTIONS = 8;
/** The bench gives up after these times, in seconds. */
const TIMEOUT_SECONDS = { ours: Math.max(160, DIGESTS / 62), bare: Math.max(45, DIGESTS / 220) };
const LOOK_MS = 100;
const MEMORY_EVERY_MS = 1000;
const REPORT_EVERY_MS = 5000;
/** The programs whose memory is printed. */
const PROGRAMS = ['analysis', 'delivery'];

interface Stage {
  bus: Bus;
  database: Database;
  sink: Peer;
}

await runBench(async (cleanup) => {
  const stores = await benchStores(cleanup);
  const { natsUrl } = stores;
  const bus = await connectBus(natsUrl, 'bench', createLogger('bench', 'error'));
  const database = await openDatabase(stores.databaseUrl, 'bench', 2);
  cleanup.add(() => Promise.all([bus.close(), database.destroy()]));
  const sink = await startPeer('sink', cleanup, [String(ACCEPT_MS)]);
  const smtpUrl = await sink.ask<string>('url');
  const stage = { bus, database, sink };
  const env = programEnv(stores, { SMTP_URL: smtpUrl, PUBLIC_URL });
  const analysis = await startProgram('analysis', env, cleanup);
  const delivery = await startProgram('delivery', env, cleanup);
  console.log(`${DIGESTS} daily digests of ${ITEMS} items, each to a separate email channel.`);
  const ours = await sendDigests(stage, analysis);
  await Promise.all([analysis.stop(), delivery.stop()]);
  const bare = await startPeer('bare-mailer', cleanup);
  const bareSeconds = await sendBare(stage, bare, { natsUrl, smtpUrl, connections: CONNECTIONS });
  const figuresOf = (seconds: number) => [
    Math.round(DIGESTS / seconds),
    seconds.toFixed(1),
    (bareSeconds / seconds).toFixed(2),
  ];
  console.log('');
  table(
    ['', 'digests/s', 'seconds', 'ratio to the bare loop'],
    [
      ['assembled and stored', ...figuresOf(ours.assembled)],
      ['assembled and sent, until the last mail', ...figuresOf(ours.sent)],
      [`bare loop of nodemailer, ${CONNECTIONS} connections`, ...figuresOf(bareSeconds)],
    ],
  );
  console.log('');
  table(
    ['resident memory, MiB', 'before', 'at most'],
    PROGRAMS.map((name) => [name, mib(ours.before.get(name)), mib(ours.peak.get(name))]),
  );
});

function startPeer(name: string, cleanup: Cleanup, args: string[] = []): Promise<Peer> {
  return Peer.start(new URL(`./digests/${name}.js`, import.meta.url), args).then((peer) => {
    cleanup.add(() => peer.stop());
    return peer;
  });
}

/** Durations and memory of a run of the services. */
interface Run {
  /** Seconds until every digest was stored. */
  assembled: number;
  /** Seconds until the last mail had arrived. */
  sent: number;
  /** Resident memory of each program, in MiB. */
  before: ReadonlyMap<string, number>;
  peak: ReadonlyMap<string, number>;
}

/**
 * Makes the digests due while analysis is suspended, and resumes analysis. Waits until the mail server has the mail of
 * each digest, and delivery has recorded all mails.
 * @throws Error if a mail does not arrive or is not recorded in time, or if a mail arrives or is recorded twice
 */
async function sendDigests(stage: Stage, analysis: BenchProgram): Promise<Run> {
  const { database, sink } = stage;
  analysis.suspend();
  await makeDue(database, await fillKeywords(database, DIGESTS, ITEMS));
  const arrival = sink.ask<void>('expect', DIGESTS);
  const before = residentMemory();
  const peak = new Map(before);
  const cpu = cpuTimes();
  printProgress(`${DIGESTS} digests are due, load ${load()}`);
  const began = performance.now();
  analysis.resume();
  const observer = observeRun(stage, began, peak);
  await inTime(arrival, began, TIMEOUT_SECONDS.ours, stage);
  const sent = secondsSince(began);
  const assembled = await observer.stop();
  printProgress(`processor seconds: ${cpuText(cpu, cpuTimes())}`);
  await untilRecorded(stage, began);
  const { mails, distinct, bytes } = await sink.ask<ReceivedMails>('received');
  const { delivered, failed } = await attemptsOf(stage.bus);
  console.log(
    `${mails} mails of ${Math.round(bytes / mails)} bytes arrived, of ${distinct} digests; ${delivered} attempts delivered, ${failed} failed.`,
  );
  if (mails !== DIGESTS || delivered !== DIGESTS)
    throw new Error(
      `${mails} mails have arrived and ${delivered} are recorded as delivered, instead of ${DIGESTS}`,
    );
  return { assembled, sent, before, peak };
}

/** Records the memory, and the time at which all digests are stored, until `stop` is called. */
function observeRun({ bus, sink }: Stage, began: number, peak: Map<string, number>) {
  let assembled: number | undefined;
  let isOver = false;
  const look = async () => {
    let [memoryAt, reportAt] = [began, began + REPORT_EVERY_MS];
    while (!isOver || assembled === undefined) {
      const stored = (await bus.jsm.streams.info('DIGESTS')).state.messages;
      if (stored > DIGESTS) throw new Error(`${stored} digests are stored instead of ${DIGESTS}`);
      if (stored === DIGESTS) assembled ??= secondsSince(began);
      if (performance.now() >= memoryAt) {
        for (const [name, now] of residentMemory()) peak.set(name, Math.max(peak.get(name) ?? 0, now));
        memoryAt += MEMORY_EVERY_MS;
      }
      if (performance.now() >= reportAt) {
        const { mails } = await sink.ask<ReceivedMails>('received');
        printProgress(
          `${secondsSince(began).toFixed(0)} s: ${stored} assembled, ${mails} mails, load ${load()}`,
        );
        reportAt += REPORT_EVERY_MS;
      }
      await wait(LOOK_MS);
    }
    return assembled;
  };
  const looking = look();
  // `stop` reports the error of this promise.
  looking.catch(() => undefined);
  return {
    /** @returns the seconds until all digests were stored */
    stop: () => {
      isOver = true;
      return looking;
    },
  };
}

async function sendBare({ sink, ...stage }: Stage, bare: Peer, run: BareMails): Promise<number> {
  const rendered = await bare.ask<number>('fill', run);
  if (rendered !== DIGESTS) throw new Error(`the bare loop has ${rendered} of ${DIGESTS} digests`);
  const arrival = sink.ask<void>('expect', DIGESTS);
  const cpu = cpuTimes();
  printProgress(`the bare loop begins, load ${load()}`);
  const began = performance.now();
  await inTime(Promise.all([arrival, bare.ask('send')]), began, TIMEOUT_SECONDS.bare, { ...stage, sink });
  const seconds = secondsSince(began);
  printProgress(`processor seconds: ${cpuText(cpu, cpuTimes())}`);
  return seconds;
}

/**
 * @throws Error with the number of mails that have arrived, if not all arrive within `seconds` after `began`
 */
async function inTime(arrival: Promise<unknown>, began: number, seconds: number, { bus, sink }: Stage) {
  const left = began + seconds * 1000 - performance.now();
  const late = wait(left, 'late' as const, { ref: false });
  if ((await Promise.race([arrival, late])) !== 'late') return;
  const { mails, distinct } = await sink.ask<ReceivedMails>('received');
  const { delivered, failed } = await attemptsOf(bus);
  throw new Error(
    `after ${seconds} s, ${mails} mails have arrived, of ${distinct} of ${DIGESTS} digests; ${delivered} attempts delivered, ${failed} failed`,
  );
}

/** Waits until no delivery is left to attempt or to record. */
async function untilRecorded({ database }: Stage, began: number): Promise<void> {
  for (;;) {
    const [row] = await database.query<{ left: number }[]>(
      'SELECT count(*)::int AS left FROM pending_deliveries',
    );
    if (row?.left === 0) return;
    if (secondsSince(began) > TIMEOUT_SECONDS.ours)
      throw new Error(`${row?.left} deliveries are not recorded`);
    await wait(LOOK_MS);
  }
}

/** Returns the number of attempts in ATTEMPTS. */
async function attemptsOf({ js, jsm }: Bus): Promise<{ delivered: number; failed: number }> {
  const { last_seq: last, messages } = (await jsm.streams.info('ATTEMPTS')).state;
  const counts = { delivered: 0, failed: 0 };
  if (messages === 0) return counts;
  const consumer = await js.consumers.get('ATTEMPTS');
  for await (const message of await consumer.consume()) {
    for (const { delivered } of attemptsIn(message.data)) counts[delivered ? 'delivered' : 'failed'] += 1;
    if (message.seq >= last) break;
  }
  return counts;
}

/** Returns the resident memory of the programs of the bench, in MiB; empty if there is no `/proc`. */
function residentMemory(): Map<string, number> {
  return new Map([...memoryBelow(process.pid)].map(([name, { rss }]) => [name, rss]));
}

function secondsSince(began: number): number {
  return (performance.now() - began) / 1000;
}

function mib(value: number | undefined): string {
  return value === undefined ? 'not known' : String(Math.round(value));
}
