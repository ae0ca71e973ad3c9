import type { Command } from 'commander';
import { STREAMS, type Bus, type StreamName } from '#messaging';
import { rebuildProjection, type Projection } from '#projections';
import type { Database } from '#postgres';
import { labelsProjection } from '../analysis/projections/labels.projection.js';
import { accountsProjection } from '../billing/projections/accounts.projection.js';
import { replaysProjection } from '../delivery/projections/replays.projection.js';
import { keywordsProjection } from '../keywords/projections/keywords.projection.js';
import { readPollingConfig } from '../polling/config.js';
import { scheduleProjection } from '../polling/projections/schedule.projection.js';
import { print } from './arguments.js';
import { withBus, withDatabase } from './connection.js';

/** What `projections rebuild` takes, and what is lost or repeated by it. */
interface Rebuildable {
  name: string;
  stream: StreamName;
  fills: string;
  rebuild(bus: Bus): Promise<Record<string, unknown>>;
}

/** `projections list`, `projections rebuild` */
export function addProjectionCommands(program: Command): void {
  const projections = program.command('projections').description('tables that follow the streams');
  projections
    .command('list')
    .description('one line of JSON for each that can be rebuilt: {name, stream, fills}')
    .action(() => {
      for (const { name, stream, fills } of rebuildables()) print({ name, stream, fills });
    });
  projections
    .command('rebuild')
    .description('fills the tables anew from their stream; Earshot may go on running')
    .argument('<name>', 'as projections list prints it')
    .action(async (name: string) => {
      const all = rebuildables();
      const found = all.find((one) => one.name === name);
      if (!found)
        throw new Error(
          `There is no projection ${name}; there are: ${all.map((one) => one.name).join(', ')}.`,
        );
      print({ name, ...(await withBus(process.env, (bus) => found.rebuild(bus))) });
    });
}

function rebuildables(): Rebuildable[] {
  return [
    inPostgres(accountsProjection, 'accounts, api_keys'),
    inPostgres(keywordsProjection, 'keywords, watches, quoted_periods'),
    inPostgres(
      scheduleProjection((source) => lanesOf(source)),
      'watch_schedule, upstream_searches (every watch begins again with a silent first poll)',
    ),
    inPostgres(replaysProjection, 'replays (those under way begin again)'),
    inClickHouse('events-index-v1', 'EVENTS', 'events'),
    inPostgres(labelsProjection, 'mention_labels'),
    inClickHouse('mentions-sink-v1', 'EVENTS', 'mentions'),
    inClickHouse('labels-sink-v1', 'LABELS', 'labels and corrections of mentions'),
    inClickHouse('check-activity-sink-v1', 'CHECKS', 'activity of checks'),
    inClickHouse('attempt-activity-sink-v1', 'ATTEMPTS', 'activity of webhooks'),
    inClickHouse('attempts-sink-v1', 'ATTEMPTS', 'attempts'),
    inClickHouse('observations-sink-v1', 'CHECKS', 'listing_observations, market_days'),
  ];
}

function lanesOf(source: string): number {
  const urls = { NATS_URL: 'unused', DATABASE_URL: 'unused', CLICKHOUSE_URL: 'unused' };
  return readPollingConfig({ ...process.env, ...urls }).lanesOf(source);
}

function inPostgres(projection: Projection, fills: string): Rebuildable {
  const { name, stream, tables = [] } = projection;
  return {
    name,
    stream,
    fills,
    rebuild: (bus) =>
      withDatabase(process.env, async (database: Database) => ({
        applied: await rebuildProjection(database, bus, { ...projection, tables }),
      })),
  };
}

/** Its rows are keyed by the fact, so that writing them again changes nothing: the consumer begins anew. */
function inClickHouse(name: string, stream: keyof typeof STREAMS, fills: string): Rebuildable {
  return {
    name,
    stream,
    fills,
    async rebuild(bus) {
      const { state } = await bus.jsm.streams.info(stream);
      await bus.jsm.consumers.delete(stream, name);
      return { messages: state.messages, goesOn: 'the analysis service reads them again from now on' };
    },
  };
}
