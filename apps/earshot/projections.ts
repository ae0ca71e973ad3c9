import type { Command } from 'commander';
import { STREAMS, type Bus, type StreamName } from '#messaging';
import {
  ATTEMPT_ACTIVITY_SINK,
  ATTEMPTS_SINK,
  CHECK_ACTIVITY_SINK,
  EVENTS_INDEX,
  EXPLORE_ITEMS_SINK,
  LABELS_SINK,
  MENTIONS_SINK,
  OBSERVATIONS_SINK,
  VECTORS_SINK,
  rebuildProjection,
  type Projection,
} from '#projections';
import type { Database } from '#postgres';
import { alertsProjection } from '../analysis/projections/alerts.projection.js';
import { digestItemsProjection } from '../analysis/projections/digest-items.projection.js';
import { labelsProjection } from '../analysis/projections/labels.projection.js';
import { mentionCountsProjection } from '../analysis/projections/mention-counts.projection.js';
import { reportsProjection } from '../analysis/projections/reports.projection.js';
import { searchCoverageProjection } from '../analysis/projections/search-coverage.projection.js';
import { accountsProjection } from '../billing/projections/accounts.projection.js';
import { waitingReadingsProjection } from '../analysis/projections/waiting-readings.projection.js';
import { channelsProjection } from '../delivery/projections/channels.projection.js';
import { replaysProjection } from '../delivery/projections/replays.projection.js';
import { keywordsProjection } from '../keywords/projections/keywords.projection.js';
import { readPollingConfig } from '../polling/config.js';
import { exploresProjection } from '../polling/projections/explores.projection.js';
import { scheduleProjection } from '../polling/projections/schedule.projection.js';
import { print } from './arguments.js';
import { withBus, withClickHouse, withDatabase } from './connection.js';
import { removeWrongSequences } from './doctor/event-index.js';

/**
 * A projection that `projections rebuild` accepts. `fills` names the tables that a rebuild fills, with remarks in
 * brackets.
 */
interface Rebuildable {
  name: string;
  store: 'postgres' | 'clickhouse';
  stream: StreamName;
  fills: string;
  rebuild(bus: Bus): Promise<Record<string, unknown>>;
}

/** Adds `projections list` and `projections rebuild`. */
export function addProjectionCommands(program: Command): void {
  const projections = program
    .command('projections')
    .description('manage the tables that are built from the streams');
  projections
    .command('list')
    .description(
      'print one line of JSON for each projection that can be rebuilt: {name, store, stream, fills}',
    )
    .action(() => {
      for (const { name, store, stream, fills } of rebuildables()) print({ name, store, stream, fills });
    });
  projections
    .command('rebuild')
    .description(
      'fill tables again from their streams while Earshot runs, one projection after the other. postgres: build new ' +
        'tables beside the old ones, then replace the old ones; print a line of JSON every few seconds: {name, phase, ' +
        'applied, total, secondsLeft}. clickhouse: print {name, messages, goesOn}; the analysis service then writes the rows again',
    )
    .argument('<name...>', 'names in projections list')
    .action(async (names: string[]) => {
      const chosen = [...new Set(names)].map(rebuildable);
      for (const { name, rebuild } of chosen)
        print({ name, ...(await withBus(process.env, (bus) => rebuild(bus))) });
    });
}

/** @throws Error for a name that does not exist, or that cannot be rebuilt */
function rebuildable(name: string): Rebuildable {
  const refusal = REFUSED[name];
  if (refusal) throw new Error(`${name} cannot be rebuilt: ${refusal}`);
  const all = rebuildables();
  const found = all.find((one) => one.name === name);
  if (!found)
    throw new Error(`There is no projection ${name}; there are: ${all.map((one) => one.name).join(', ')}.`);
  return found;
}

function rebuildables(): Rebuildable[] {
  return [
    inPostgres(accountsProjection, 'accounts, api_keys, members, invitations'),
    inPostgres(keywordsProjection, 'keywords, watches (quoted_periods does not change)'),
    inPostgres(
      scheduleProjection((source) => lanesOf(source)),
      'watch_schedule, upstream_searches, schedule_accounts (the state of each watch stays)',
    ),
    inPostgres(exploresProjection, 'explores, explore_sources'),
    inPostgres(replaysProjection, 'replays (running replays continue)'),
    inPostgres(channelsProjection, 'channels, channel_addresses'),
    inClickHouse(EVENTS_INDEX, 'EVENTS', 'events, activity of keywords', (bus) =>
      withClickHouse(process.env, (clickhouse) => removeWrongSequences(bus, clickhouse)),
    ),
    inPostgres(labelsProjection, 'mention_labels'),
    inPostgres(waitingReadingsProjection, 'waiting_readings (events that wait for the language model)'),
    inPostgres(
      mentionCountsProjection,
      'mention_counts, counted_mentions (a rebuild evaluates no alert again)',
    ),
    inPostgres(searchCoverageProjection, 'search_coverage'),
    inPostgres(alertsProjection, 'alert_episodes'),
    inPostgres(reportsProjection, 'reports'),
    inPostgres(digestItemsProjection, 'digest_items (digests are not assembled again)'),
    inClickHouse(MENTIONS_SINK, 'EVENTS', 'mentions'),
    inClickHouse(EXPLORE_ITEMS_SINK, 'EXPLORES', 'mentions, mention_vectors: items of Explores'),
    inClickHouse(
      VECTORS_SINK,
      'EVENTS',
      'mention_vectors (events of the last hour, and those that contain their vector)',
    ),
    inClickHouse(LABELS_SINK, 'LABELS', 'mentions: labels and corrections'),
    inClickHouse(CHECK_ACTIVITY_SINK, 'CHECKS', 'activity of checks'),
    inClickHouse(ATTEMPT_ACTIVITY_SINK, 'ATTEMPTS', 'activity of webhooks and channels'),
    inClickHouse(ATTEMPTS_SINK, 'ATTEMPTS', 'attempts'),
    inClickHouse(OBSERVATIONS_SINK, 'CHECKS', 'listing_observations, market_days, answers'),
  ];
}

function lanesOf(source: string): number {
  const urls = { NATS_URL: 'unused', DATABASE_URL: 'unused', CLICKHOUSE_URL: 'unused' };
  return readPollingConfig({ ...process.env, ...urls }).lanesOf(source);
}

/**
 * Projections that a user can find in the metrics or in `projection_positions`, but cannot rebuild. For each, the
 * reason, and what to do instead if anything can be done.
 */
const REFUSED: Readonly<Record<string, string>> = {
  'endpoints-v1':
    'webhook_endpoints stores results of deliveries that are in no stream. POST /v1/endpoints/enable enables an endpoint.',
  'digest-deliveries-v1':
    'it creates the deliveries of each digest, and its rows are deleted after the delivery.',
  'credits-v1':
    'balances, movements and reservations are written with the decision itself. `credits audit` compares balances and movements with CREDITS.',
};

const PROGRESS_EVERY_MS = 2000;

function inPostgres(projection: Projection, fills: string): Rebuildable {
  const { name, stream, rebuild } = projection;
  if (!rebuild) throw new Error(`${name} has no tables that can be rebuilt.`);
  return {
    name,
    store: 'postgres',
    stream,
    fills,
    rebuild: (bus) =>
      withDatabase(process.env, async (database: Database) => {
        let printedAt = Date.now();
        return {
          ...(await rebuildProjection(database, bus, { ...projection, rebuild }, (progress) => {
            if (progress.phase === 'done' || Date.now() - printedAt < PROGRESS_EVERY_MS) return;
            printedAt = Date.now();
            print({ name, ...progress });
          })),
        };
      }),
  };
}

/**
 * Rebuilds the rows of a sink: its consumer starts again from the beginning of the stream. The rows have the fact's id
 * as key, so writing a row a second time changes nothing.
 *
 * @param prepare runs before the rows are written again, and corrects what this writing does not correct
 */
function inClickHouse(
  name: string,
  stream: keyof typeof STREAMS,
  fills: string,
  prepare?: (bus: Bus) => Promise<void>,
): Rebuildable {
  return {
    name,
    store: 'clickhouse',
    stream,
    fills,
    async rebuild(bus) {
      await prepare?.(bus);
      const { state } = await bus.jsm.streams.info(stream);
      await bus.jsm.consumers.delete(stream, name);
      return { messages: state.messages, goesOn: 'the analysis service reads these messages again' };
    },
  };
}
