import { fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { PurgeSchema } from '#contracts';
import { TupleParam } from '@clickhouse/client';
import { selectRows, type ClickHouseClient } from '#clickhouse';
import type { EventStore } from '#event-store';
import { eraseTwice, purgeConsumer, subjectOf, type Outcome } from '#messaging';
import { CLICKHOUSE, DATABASE, STORE } from '#platform';
import type { Database } from '#postgres';
import { forgetPositions } from '#projections';
import { ConsumerPattern } from '#transport';
import { alertsProjection } from '../projections/alerts.projection.js';
import { digestItemsProjection } from '../projections/digest-items.projection.js';
import { labelsProjection } from '../projections/labels.projection.js';
import { mentionCountsProjection } from '../projections/mention-counts.projection.js';
import { reportsProjection } from '../projections/reports.projection.js';
import { searchCoverageProjection } from '../projections/search-coverage.projection.js';
import { waitingReadingsProjection } from '../projections/waiting-readings.projection.js';
import { countMarketDay, emptyDay, type MarketDay, type MarketScopeKind } from '../readmodels/market-days.js';

/**
 * Deletes what analysis has stored about a purged keyword: events, readings, labels, alerts, digests, and rows in
 * Postgres and ClickHouse. The deletions in ClickHouse are synchronous mutations, so that no read finds a deleted row
 * after a purge.
 */
@Controller()
export class PurgeHandler {
  constructor(
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
    @Inject(DATABASE) private readonly database: Database,
    @Inject(STORE) private readonly store: EventStore,
  ) {}

  @ConsumerPattern(purgeConsumer('analysis'))
  handle(batch: readonly JsMsg[]): Promise<Outcome[]> {
    return eraseTwice(batch, (purge) => this.erase(purge));
  }

  private async erase(purge: Uint8Array): Promise<void> {
    const { accountId, keywordId, watchIds } = fromBinary(PurgeSchema, purge);
    for (const id of [...watchIds, keywordId])
      await this.store.erase('EVENTS', subjectOf('EVENTS', accountId, id));
    for (const watchId of watchIds) {
      await this.store.erase('READINGS', subjectOf('READINGS', accountId, watchId));
      await this.store.erase('READINGS', subjectOf('READINGS', accountId, watchId, '*'));
    }
    const waiting = watchIds.map((watchId) => subjectOf('READINGS', accountId, watchId, '*'));
    await forgetPositions(this.database.manager, waitingReadingsProjection, waiting);
    await this.database.query('DELETE FROM waiting_readings WHERE watch_id = ANY($1)', [watchIds]);
    await this.database.query('DELETE FROM stories WHERE owner_id = ANY($1)', [[...watchIds, keywordId]]);
    await this.database.query('DELETE FROM buckets WHERE owner_id = $1', [keywordId]);
    await this.database.query('DELETE FROM backtests WHERE keyword_id = $1', [keywordId]);
    const labels = subjectOf('LABELS', accountId, keywordId, '*');
    await this.store.erase('LABELS', labels);
    await this.database.query('DELETE FROM mention_labels WHERE owner_id = $1', [keywordId]);
    await forgetPositions(this.database.manager, labelsProjection, [labels]);
    await this.eraseAlertsAndDigests(accountId, keywordId, watchIds);
    const before = await clockOf(this.clickhouse);
    const days = await observedDays(this.clickhouse, accountId, keywordId);
    const own = 'account_id = {accountId: UUID}';
    for (const table of [
      'mentions',
      'mention_vectors',
      'activity',
      'attempts',
      'answers',
      'listing_observations',
    ])
      await erase(this.clickhouse, table, `${own} AND keyword_id = {keywordId: UUID}`, {
        accountId,
        keywordId,
      });
    await erase(this.clickhouse, 'events', `${own} AND watch_id IN {watchIds: Array(UUID)}`, {
      accountId,
      watchIds: [...watchIds, keywordId],
    });
    await countWithout(this.clickhouse, accountId, days, before);
  }

  private async eraseAlertsAndDigests(
    accountId: string,
    keywordId: string,
    watchIds: readonly string[],
  ): Promise<void> {
    const { manager } = this.database;
    const alerts = subjectOf('ALERTS', accountId, keywordId);
    await this.store.erase('ALERTS', alerts);
    for (const table of KEYWORD_TABLES)
      await this.database.query(`DELETE FROM ${table} WHERE keyword_id = $1`, [keywordId]);
    const subjectsIn = (stream: 'CHECKS' | 'EVENTS') =>
      [...watchIds, keywordId].map((id) => subjectOf(stream, accountId, id));
    await forgetPositions(manager, alertsProjection, [alerts]);
    for (const projection of [mentionCountsProjection, digestItemsProjection])
      await forgetPositions(manager, projection, subjectsIn('EVENTS'));
    const digests = subjectOf('DIGESTS', accountId, keywordId, '*', '*');
    await this.store.erase('DIGESTS', digests);
    await forgetPositions(manager, reportsProjection, [digests]);
    await forgetPositions(manager, searchCoverageProjection, subjectsIn('CHECKS'));
  }
}

const KEYWORD_TABLES = [
  'digest_items',
  'reports',
  'digest_turns',
  'alert_turns',
  'alert_episodes',
  'mention_counts',
  'counted_mentions',
  'search_coverage',
] as const;

/** Deletes the rows of ClickHouse that match the condition. Starts no mutation if no row matches. */
async function erase(
  clickhouse: ClickHouseClient,
  table: string,
  condition: string,
  params: Record<string, unknown>,
): Promise<void> {
  const found = await selectRows(clickhouse, `SELECT 1 FROM ${table} WHERE ${condition} LIMIT 1`, params);
  if (found.length === 0) return;
  await clickhouse.command({
    query: `ALTER TABLE ${table} DELETE WHERE ${condition} SETTINGS mutations_sync = 2`,
    query_params: params,
  });
}

/** Returns the present time (UTC) by the clock of ClickHouse, which also sets `counted_at` of market days. */
async function clockOf(clickhouse: ClickHouseClient): Promise<string | undefined> {
  const [clock] = await selectRows<{ now: string }>(clickhouse, "SELECT toString(now64(3, 'UTC')) AS now");
  return clock?.now;
}

/** Returns the days whose statistics include listings of the keyword, with all scopes of these days. */
async function observedDays(
  clickhouse: ClickHouseClient,
  accountId: string,
  keywordId: string,
): Promise<MarketDay[]> {
  const rows = await selectRows<{ market: string; date: string; scope: MarketScopeKind; scope_id: string }>(
    clickhouse,
    `SELECT DISTINCT market, toString(date) AS date, scope, scope_id FROM market_days
     WHERE account_id = {accountId: UUID} AND (market, date) IN
       (SELECT market, date FROM market_days
        WHERE account_id = {accountId: UUID} AND scope = 'keyword' AND scope_id = {keywordId: String})`,
    { accountId, keywordId },
  );
  const days = new Map<string, MarketDay>();
  for (const { market, date, scope, scope_id } of rows) {
    const key = `${market} ${date}`;
    const day = days.get(key) ?? emptyDay(accountId, market, date);
    days.set(key, day);
    day.scopes[scope].add(scope_id);
  }
  return [...days.values()];
}

/**
 * Computes the statistics of the days again, without the keyword's observations.
 * @param before the time (of ClickHouse) before the scopes of the days were read. A check can count a new scope later:
 *   it is not in `days`, and its row must stay
 */
async function countWithout(
  clickhouse: ClickHouseClient,
  accountId: string,
  days: readonly MarketDay[],
  before: string | undefined,
): Promise<void> {
  if (days.length === 0) return;
  for (const day of days) await countMarketDay(clickhouse, day);
  // Rows that were counted before, and not again, belong only to the keyword.
  await clickhouse.command({
    query: `ALTER TABLE market_days DELETE WHERE account_id = {accountId: UUID}
      AND (market, toString(date)) IN {days: Array(Tuple(String, String))}
      AND counted_at < {before: DateTime64(3, 'UTC')} SETTINGS mutations_sync = 2`,
    query_params: {
      accountId,
      before,
      days: days.map(({ market, date }) => new TupleParam([market, date])),
    },
  });
}
