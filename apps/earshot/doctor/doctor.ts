import { resolve } from 'node:path';
import { setTimeout as waitFor } from 'node:timers/promises';
import type { ConsumerInfo, StoredMsg } from '@nats-io/jetstream';
import type { ClickHouseClient } from '#clickhouse';
import { readSettings } from '#config';
import { within } from '#kernel';
import { consumerInfo, getMessage, STREAMS, type Bus, type StreamName } from '#messaging';
import { storedSecrets, streamsBehind } from '#platform';
import type { Database } from '#postgres';
import { EVENTS_INDEX } from '#projections';
import { SecretBox } from '#secrets';
import { countOf } from '../count-of.js';
import { readMasterKey } from '../master-key.js';
import { streamInfos } from '../streams.js';
import { compareEventIndex } from './event-index.js';

/** One check of the installation, and its result. */
export interface Finding {
  check: string;
  ok: boolean;
  /** The result. If the check failed, also what to do. */
  detail: string;
}

/** The connections of the checked installation. */
export interface Connections {
  bus: Bus;
  database: Database;
  clickhouse: ClickHouseClient;
  env: NodeJS.ProcessEnv;
}

type Store = Exclude<keyof Connections, 'env'>;

/** The names of the stores in findings. */
const NAMES: Readonly<Record<Store, string>> = {
  bus: 'NATS',
  database: 'Postgres',
  clickhouse: 'ClickHouse',
};

/** What a check found. */
type Result = Omit<Finding, 'check'>;

interface Check {
  check: string;
  needed: readonly Store[];
  run(all: Connections): Promise<Result>;
  /** Maximum time, in ms. */
  limitMs: number;
}

/** Maximum time of a check: the command would otherwise wait endlessly for a store that does not answer any more. */
const CHECK_WITHIN_MS = 60_000;
/** Additional time for each event that the last check compares, because it makes a request for each. */
const EVENT_WITHIN_MS = 20;

/** A consumer with more pending messages than this is behind. */
const MAX_PENDING = 10_000;
/**
 * A message that its consumer has not processed within this time is reported, unless the consumer advances. The alert
 * EarshotMessageNeverProcessed has the same limit, and a comment there explains the limit.
 */
const MAX_UNPROCESSED_MS = 7_200_000;
/**
 * A consumer that still has the same oldest message after this time does not advance. The alert compares the position
 * with the position two hours before, but this check knows only the age of the message. So it looks twice: a new
 * consumer, or one whose service was down, also has old messages, but advances.
 */
const SECOND_LOOK_MS = 3_000;
const HOUR_MS = 3_600_000;

/** Further arguments of `checkInstallation`, for specs. */
interface Options {
  /** Waits for a number of milliseconds. It is called only if a consumer has an old message. */
  wait(ms: number): Promise<unknown>;
  /** Maximum time of a check, in ms. */
  checkMs: number;
}

/**
 * Checks an installation without changing it. Leaves out the checks that need a missing connection. A check that fails
 * with an error, or takes too long, is a finding.
 * @param events how many of the newest events are compared with their rows in ClickHouse
 */
export async function checkInstallation(
  stores: Pick<Connections, 'env'> & { [store in Store]: Connections[store] | undefined },
  events: number,
  { wait = waitFor, checkMs = CHECK_WITHIN_MS }: Partial<Options> = {},
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const one of checksOf(events, wait, checkMs))
    if (one.needed.every((store) => stores[store]))
      findings.push({ check: one.check, ...(await resultOf(one, stores as Connections)) });
  return findings;
}

function checksOf(events: number, wait: Options['wait'], limitMs: number): Check[] {
  return [
    {
      check: 'streams contain what the tables show',
      needed: ['bus', 'database'],
      run: streamsContainWhatTablesShow,
      limitMs,
    },
    { check: 'consumers keep up', needed: ['bus'], run: consumersKeepUp, limitMs },
    {
      check: 'every consumer processes its oldest message',
      needed: ['bus'],
      run: (all) => messagesAreProcessed(all, wait),
      limitMs,
    },
    { check: 'no message is parked', needed: ['bus'], run: nothingIsParked, limitMs },
    {
      check: 'the master key decrypts every stored secret',
      needed: ['database'],
      run: masterKeyDecrypts,
      limitMs,
    },
    {
      check: 'the index of events agrees with the stream',
      needed: ['bus', 'clickhouse'],
      run: (all) => eventIndexAgrees(all, events),
      limitMs: limitMs + events * EVENT_WITHIN_MS,
    },
  ];
}

/** Runs a check. Never throws, so that the findings of the other checks are not lost. */
async function resultOf({ run, needed, limitMs }: Check, stores: Connections): Promise<Result> {
  const failed = (reason: string) => {
    const names = needed.map((store) => NAMES[store]).join(' and ');
    return { ok: false, detail: `the check did not finish (it needs ${names}): ${reason}` };
  };
  const running = run(stores);
  try {
    return (await within(limitMs, running)) ? await running : failed(`no answer within ${limitMs / 1000} s`);
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  }
}

async function streamsContainWhatTablesShow({ bus, database }: Connections): Promise<Result> {
  const behind = await streamsBehind(database, bus);
  const list = behind.map(
    (one) => `${one.stream} ends at ${one.lastSequence}, but was processed up to ${one.followedUpTo}`,
  );
  return {
    ok: behind.length === 0,
    detail: behind.length === 0 ? 'yes' : `${list.join('; ')}: restore NATS' directory from a backup`,
  };
}

async function consumersKeepUp({ bus }: Connections): Promise<Result> {
  const late = (await streamInfos(bus)).flatMap(({ consumers }) =>
    consumers
      .filter(({ pending }) => pending > MAX_PENDING)
      .map(({ name, pending }) => `${name}: ${pending}`),
  );
  return {
    ok: late.length === 0,
    detail: late.length === 0 ? 'yes' : `pending messages: ${late.join(', ')}; is the service running?`,
  };
}

async function messagesAreProcessed({ bus }: Connections, wait: Options['wait']): Promise<Result> {
  const suspects = await consumersWithOldMessage(bus);
  if (suspects.length > 0) await wait(SECOND_LOOK_MS);
  const late: string[] = [];
  for (const { stream, consumer, message, ageMs } of suspects) {
    const now = await consumerInfo(bus, stream, consumer.name);
    if (now && isWaiting(now) && now.ack_floor.stream_seq === consumer.ack_floor.stream_seq)
      late.push(
        `${consumer.name}: message ${message.seq} of ${stream} (${message.subject}) is ${Math.floor(ageMs / HOUR_MS)} hours old`,
      );
  }
  return {
    ok: late.length === 0,
    detail:
      late.length === 0 ? 'yes' : `${late.join('; ')}; see EarshotMessageNeverProcessed in docs/runbook.md`,
  };
}

/** Returns the consumers whose oldest message is old. They can be consumers that catch up. */
async function consumersWithOldMessage(
  bus: Bus,
): Promise<{ stream: StreamName; consumer: ConsumerInfo; message: StoredMsg; ageMs: number }[]> {
  const found = [];
  for (const stream of Object.keys(STREAMS) as StreamName[])
    for await (const consumer of bus.jsm.consumers.list(stream)) {
      const message = await oldestUnprocessed(bus, stream, consumer);
      const ageMs = message ? Date.now() - message.time.getTime() : 0;
      if (message && ageMs > MAX_UNPROCESSED_MS) found.push({ stream, consumer, message, ageMs });
    }
  return found;
}

/** Returns the oldest message that a durable consumer has not acknowledged; null if there is none. */
async function oldestUnprocessed(
  bus: Bus,
  stream: StreamName,
  consumer: ConsumerInfo,
): Promise<StoredMsg | null> {
  const { config, ack_floor } = consumer;
  if (config.durable_name === undefined || !isWaiting(consumer)) return null;
  return getMessage(bus, stream, {
    seq: ack_floor.stream_seq + 1,
    next_by_subj: config.filter_subject ?? '>',
  });
}

/**
 * Returns whether a message of the consumer waits for its delivery or its acknowledgement. Otherwise the position means
 * nothing, because it does not move over purged messages.
 */
function isWaiting({ num_pending, num_ack_pending }: ConsumerInfo): boolean {
  return num_pending + num_ack_pending > 0;
}

async function nothingIsParked({ bus }: Connections): Promise<Result> {
  const { state } = await bus.jsm.streams.info('PARKED');
  return {
    ok: state.messages === 0,
    detail:
      state.messages === 0
        ? 'yes'
        : `${countOf(state.messages, 'message')}; list them with: npm run -s cli -- parked list`,
  };
}

async function masterKeyDecrypts({ database, env }: Connections): Promise<Result> {
  const settings = readSettings(['DATA_DIR', 'MASTER_KEY'], env);
  const dataDir = resolve(settings.DATA_DIR);
  const masterKey = settings.MASTER_KEY || readMasterKey(dataDir) || readMasterKey(resolve(dataDir, 'demo'));
  if (!masterKey) return { ok: false, detail: `no key: set MASTER_KEY, or restore ${dataDir}/master.key` };
  const box = new SecretBox(masterKey);
  const { accounts, channels } = await storedSecrets(database);
  const sealed = [
    ...accounts.map(({ id, secrets }) => ({ name: `account ${id}`, secrets })),
    ...channels.map(({ id, secrets }) => ({ name: `channel ${id}`, secrets })),
  ];
  const unreadable = sealed.filter(({ secrets }) => !secrets.every((secret) => decrypts(box, secret)));
  const names = unreadable.map(({ name }) => name).slice(0, 10);
  const checked = `${countOf(accounts.length, 'account')}, ${countOf(channels.length, 'channel')} with a secret`;
  return {
    ok: unreadable.length === 0,
    detail:
      unreadable.length === 0
        ? checked
        : `the key does not decrypt secrets of ${unreadable.length} of them (${checked}): ${names.join(', ')}. Set MASTER_KEY to the key that encrypted them, or restore ${dataDir}/master.key from a backup`,
  };
}
function decrypts(box: SecretBox, secret: Buffer): boolean {
  try {
    box.open(secret);
    return true;
  } catch {
    return false;
  }
}

async function eventIndexAgrees({ bus, clickhouse }: Connections, events: number): Promise<Result> {
  const { compared, ...faults } = await compareEventIndex(bus, clickhouse, events);
  const differences = Object.entries(faults)
    .filter(([, ids]) => ids.length > 0)
    .map(([kind, ids]) => `${kind}: ${ids.join(', ')}`);
  return {
    ok: differences.length === 0,
    detail:
      differences.length === 0
        ? `${countOf(compared, 'event')} compared`
        : `${differences.join('; ')}. npm run -s cli -- projections rebuild ${EVENTS_INDEX} rebuilds the index`,
  };
}
