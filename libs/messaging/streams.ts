import { setTimeout as wait } from 'node:timers/promises';
import {
  DiscardPolicy,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import type { JetStreamManager } from '@nats-io/jetstream';

const DAY_NANOS = 24 * 60 * 60 * 1_000_000_000;
/** The server drops a repeated publish within this time. Later, the ids in the projections prevent a second effect. */
const DUPLICATE_WINDOW_NANOS = 2 * 60 * 1_000_000_000;

/** JetStream's error code for a stream whose subjects overlap with those of another stream. */
const SUBJECTS_OVERLAP = 10_065;
const MOMENT_MS = 250;

/**
 * The streams. docs/architecture.md describes their messages and retention. Age 0 means without limit. `decisions`: the
 * messages of a subject are decisions, and the state of the subject is computed from all of them, in their order.
 */
export const STREAMS = {
  KEYWORDS: { subjects: ['keywords.>'], maxAgeDays: 0, decisions: true },
  CHECKS: { subjects: ['checks.>'], maxAgeDays: 90, decisions: false },
  READINGS: { subjects: ['readings.>'], maxAgeDays: 90, decisions: false },
  EVENTS: { subjects: ['events.>'], maxAgeDays: 90, decisions: false },
  ATTEMPTS: { subjects: ['attempts.>'], maxAgeDays: 90, decisions: false },
  LOOKUPS: { subjects: ['lookups.>'], maxAgeDays: 90, decisions: false },
  EXPLORES: { subjects: ['explores.>'], maxAgeDays: 90, decisions: true },
  CREDITS: { subjects: ['credits.>'], maxAgeDays: 0, decisions: true },
  ACCOUNTS: { subjects: ['accounts.>'], maxAgeDays: 0, decisions: true },
  CHANNELS: { subjects: ['channels.>'], maxAgeDays: 0, decisions: true },
  REPLAYS: { subjects: ['replays.>'], maxAgeDays: 90, decisions: true },
  LABELS: { subjects: ['labels.>'], maxAgeDays: 90, decisions: true },
  ALERTS: { subjects: ['alerts.>'], maxAgeDays: 90, decisions: true },
  DIGESTS: { subjects: ['digests.>'], maxAgeDays: 90, decisions: false },
  PURGES: { subjects: ['purges.>'], maxAgeDays: 7, decisions: false },
  PARKED: { subjects: ['parked.>'], maxAgeDays: 90, decisions: false },
} as const;

/** The name of a stream. */
export type StreamName = keyof typeof STREAMS;

/** The name of a stream of decisions. */
export type DecisionStream = {
  [Name in StreamName]: (typeof STREAMS)[Name]['decisions'] extends true ? Name : never;
}[StreamName];

/** Returns the subject of a fact, for example `events.<account>.<watch>`. */
export function subjectOf(stream: StreamName, ...tokens: readonly string[]): string {
  return [stream.toLowerCase(), ...tokens].join('.');
}

/** Returns the stream of a subject that `subjectOf` made. */
export function streamOf(subject: string): string {
  return subject.slice(0, subject.indexOf('.')).toUpperCase();
}

/**
 * Creates the streams that do not exist yet. Does not change the settings of existing streams.
 * @param replicas copies that the cluster keeps of each new stream
 * @throws the error of NATS, for example if a foreign stream has one of the subjects
 */
export async function ensureStreams(jsm: JetStreamManager, replicas = 1): Promise<void> {
  const existing = await streamNames(jsm);
  for (const [name, spec] of Object.entries(STREAMS)) {
    if (existing.has(name)) continue;
    const config: Partial<StreamConfig> & { name: string } = {
      name,
      subjects: [...spec.subjects],
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      discard: DiscardPolicy.Old,
      max_age: spec.maxAgeDays * DAY_NANOS,
      duplicate_window: DUPLICATE_WINDOW_NANOS,
      // For the release before `getMessage` (docs/adr/0039), in case of a downgrade.
      allow_direct: true,
      num_replicas: replicas,
    };
    // If two services start at the same time, both create the stream, and the second gets the same answer as the first.
    // While the first creation is still running, the server can report overlapping subjects. So the second creation is
    // tried once more.
    await jsm.streams.add(config).catch(async (error: unknown) => {
      if (!(error instanceof JetStreamApiError) || error.code !== SUBJECTS_OVERLAP) throw error;
      await wait(MOMENT_MS);
      await jsm.streams.add(config);
    });
  }
}

/** @throws Error that says what to do if a stream does not exist */
export async function requireStreams(jsm: JetStreamManager): Promise<void> {
  const existing = await streamNames(jsm);
  const missing = Object.keys(STREAMS).filter((name) => !existing.has(name));
  if (missing.length > 0)
    throw new Error(
      `this NATS server lacks streams of Earshot (${missing.join(', ')}); check its address, and start Earshot before this command`,
    );
}

async function streamNames(jsm: JetStreamManager): Promise<Set<string>> {
  const names = new Set<string>();
  for await (const info of jsm.streams.list()) names.add(info.config.name);
  return names;
}
