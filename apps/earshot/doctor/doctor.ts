import { resolve } from 'node:path';
import type { ClickHouseClient } from '#clickhouse';
import { readSettings } from '#config';
import type { Bus } from '#messaging';
import { streamsBehind } from '#platform';
import { AccountEntity, type Database } from '#postgres';
import { EVENTS_INDEX } from '#projections';
import { SecretBox } from '#secrets';
import { readMasterKey } from '../master-key.js';
import { streamInfos } from '../streams.js';
import { compareEventIndex } from './event-index.js';

/** One question about the installation and its answer. */
export interface Finding {
  check: string;
  ok: boolean;
  /** What was found; where it is not well, what to do. */
  detail: string;
}

/** The connections that are looked through. */
export interface Patient {
  bus: Bus;
  database: Database;
  clickhouse: ClickHouseClient;
  env: NodeJS.ProcessEnv;
}

/** A consumer with more than this waiting is behind. */
const PENDING_AT_MOST = 10_000;

/**
 * Looks an installation through; changes nothing.
 * @param events how many of the newest events are compared with their index
 */
export async function examine(patient: Patient, events: number): Promise<Finding[]> {
  return [
    await streamsHoldWhatTablesShow(patient),
    await consumersKeepUp(patient),
    await nothingIsParked(patient),
    await masterKeyOpens(patient),
    await eventIndexAgrees(patient, events),
  ];
}

async function streamsHoldWhatTablesShow({ bus, database }: Patient): Promise<Finding> {
  const behind = await streamsBehind(database, bus);
  const list = behind.map(
    (one) => `${one.stream} ends at ${one.lastSequence}, followed up to ${one.followedUpTo}`,
  );
  return {
    check: 'streams hold what the tables show',
    ok: behind.length === 0,
    detail: behind.length === 0 ? 'yes' : `${list.join('; ')}: put NATS' directory back from a backup`,
  };
}

async function consumersKeepUp({ bus }: Patient): Promise<Finding> {
  const late = (await streamInfos(bus)).flatMap(({ consumers }) =>
    consumers
      .filter(({ pending }) => pending > PENDING_AT_MOST)
      .map(({ name, pending }) => `${name}: ${pending}`),
  );
  return {
    check: 'consumers keep up',
    ok: late.length === 0,
    detail: late.length === 0 ? 'yes' : `messages that wait: ${late.join(', ')}; is the service running?`,
  };
}

async function nothingIsParked({ bus }: Patient): Promise<Finding> {
  const { state } = await bus.jsm.streams.info('PARKED');
  return {
    check: 'no message is set aside',
    ok: state.messages === 0,
    detail: state.messages === 0 ? 'yes' : `${state.messages}: npm run -s cli -- parked list shows them`,
  };
}

async function masterKeyOpens({ database, env }: Patient): Promise<Finding> {
  const check = 'the master key opens every stored secret';
  const settings = readSettings(['DATA_DIR', 'MASTER_KEY'], env);
  const dataDir = resolve(settings.DATA_DIR);
  const masterKey = settings.MASTER_KEY || readMasterKey(dataDir) || readMasterKey(resolve(dataDir, 'demo'));
  if (!masterKey)
    return { check, ok: false, detail: `no key: set MASTER_KEY, or put ${dataDir}/master.key back` };
  const box = new SecretBox(masterKey);
  const accounts = await database.getRepository(AccountEntity).find();
  const closed = accounts.filter((account) =>
    [account.signingSecretEncrypted, account.previousSigningSecretEncrypted].some(
      (secret) => !opens(box, secret),
    ),
  );
  const ids = closed.map(({ accountId }) => accountId).slice(0, 10);
  return {
    check,
    ok: closed.length === 0,
    detail:
      closed.length === 0
        ? `${accounts.length} ${accounts.length === 1 ? 'account' : 'accounts'}`
        : `not those of ${closed.length} of ${accounts.length}: ${ids.join(', ')}`,
  };
}

function opens(box: SecretBox, secret: Buffer | null): boolean {
  if (!secret) return true;
  try {
    box.open(secret);
    return true;
  } catch {
    return false;
  }
}

async function eventIndexAgrees({ bus, clickhouse }: Patient, events: number): Promise<Finding> {
  const { compared, ...faults } = await compareEventIndex(bus, clickhouse, events);
  const told = Object.entries(faults)
    .filter(([, ids]) => ids.length > 0)
    .map(([kind, ids]) => `${kind}: ${ids.join(', ')}`);
  return {
    check: 'the index of events agrees with the stream',
    ok: told.length === 0,
    detail:
      told.length === 0
        ? `${compared} events compared`
        : `${told.join('; ')}. npm run -s cli -- projections rebuild ${EVENTS_INDEX} writes the index again`,
  };
}
