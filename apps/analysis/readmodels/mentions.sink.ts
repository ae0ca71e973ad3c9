import { fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { EventSchema, type Event, type ReadingRecord } from '#contracts';
import { insertRows, NO_ID, type ClickHouseClient, type MentionRow } from '#clickhouse';
import { done, FEW_WRITES, type Outcome } from '#messaging';
import { CLICKHOUSE, DATABASE } from '#platform';
import type { Database } from '#postgres';
import { MENTIONS_SINK } from '#projections';
import { followersOf } from '#rules';
import { ConsumerPattern } from '#transport';
import { appearedAt } from '../domain/counted-at.js';
import { labelsOf } from '../projections/labels.projection.js';
import { knownWatches } from './check-sink.js';
import { withLabels } from './labels.sink.js';
import { ruleView } from './rule-view.js';

/** Writes EVENTS to ClickHouse as mentions. */
@Controller()
export class MentionsSink {
  constructor(
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  // With two batches, the next batch is read while ClickHouse writes.
  @ConsumerPattern({
    stream: 'EVENTS',
    name: MENTIONS_SINK,
    batchSize: 2000,
    batchesAtOnce: 2,
    ...FEW_WRITES,
  })
  async write(batch: readonly JsMsg[]): Promise<Outcome[]> {
    const all = batch.map(({ data }) => fromBinary(EventSchema, data));
    // Analysis publishes events only for watches with a row. A watch without a row was purged, and must not reappear.
    const known = await knownWatches(
      this.database,
      all.map((event) => event.watchId),
    );
    const events = all.filter((event) => known.has(event.watchId));
    const rows = events.flatMap(mentionRow);
    // The labels and corrections of people are added to each row, so that a repeated event or a rebuild does not lose
    // them.
    const labels = await labelsOf(
      this.database.manager,
      rows.map((row) => row.event_id),
    );
    const byId = new Map(labels.map((row) => [row.mentionId, row]));
    await insertRows<MentionRow>(
      this.clickhouse,
      'mentions',
      rows.map((row) => withLabels(row, byId.get(row.event_id))),
    );
    return batch.map(() => done);
  }
}

/** Returns the row of an event's item; no row for an event of a keyword itself. */
export function mentionRow(event: Event): MentionRow[] {
  const item = event.matched?.item;
  if (!item) return [];
  const matches = event.matched?.matches ?? [];
  const { likes, replies, shares, views, score } = item.engagement ?? {};
  return [
    {
      account_id: event.accountId,
      occurred_at: event.occurredAt,
      event_id: event.eventId,
      keyword_id: event.keywordId || NO_ID,
      watch_id: event.watchId,
      search_id: event.searchId || NO_ID,
      check_id: event.checkId,
      source: event.source,
      type: event.type,
      kind: item.kind,
      item_id: item.itemId,
      url: item.url,
      title: item.title,
      text: item.text,
      author: item.author ?? null,
      author_name: item.authorName ?? null,
      author_url: item.authorUrl ?? null,
      vip: event.vip,
      community: item.community ?? null,
      lang: event.lang || item.lang || null,
      published_at: item.publishedAt ?? null,
      backfilled: event.backfilled,
      never_counted: appearedAt(event) === undefined,
      matches: JSON.stringify(matches.map(({ term, field, start, end }) => ({ term, field, start, end }))),
      matched_terms: [...new Set(matches.map(({ term }) => term))],
      match_mode: event.matchMode,
      likes: likes ?? null,
      replies: replies ?? null,
      shares: shares ?? null,
      views: views ?? null,
      score: score ?? null,
      media: JSON.stringify(item.media.map(({ url, type }) => ({ url, type }))),
      labels: event.labels,
      sentiment: event.analysis?.sentiment ?? '',
      sentiment_score: event.analysis?.sentimentScore ?? null,
      intent: event.analysis?.intent ?? '',
      relevance: event.relevance ?? null,
      relevance_reason: event.relevanceReason,
      reading_reason: event.analysis?.reason ?? '',
      reader: event.analysis?.reader ?? '',
      reader_model: event.analysis?.model ?? '',
      reader_version: event.analysis?.version ?? '',
      bucket: event.bucket?.key ?? '',
      bucket_label: event.bucket?.label ?? '',
      co_brands: event.coBrands,
      ai: event.aiJson,
      story_id: event.storyId,
      explore_id: NO_ID,
      readings: JSON.stringify(event.readings.map(recordOf)),
      rules: event.rules.filter(({ fired }) => fired).map(({ ruleId }) => ruleId),
      rule_outcomes: event.rules.length === 0 ? '' : JSON.stringify(event.rules.map(ruleView)),
      author_followers: followersOf(item.bodyJson) ?? null,
      title_of_parent: item.titleOfParent,
      dropped_reason: event.dropped?.reason ?? '',
      dropped_rule: event.dropped?.rule ?? '',
      verdicts: JSON.stringify(
        event.verdicts.map(({ step, value, hit, detail }) => ({ step, value, hit, detail })),
      ),
      truncated: item.truncated,
      version: 0,
      corrected_sentiment: '',
      corrected_intent: '',
      corrected_relevance: null,
      listing: event.source === 'vinted' ? item.bodyJson : '',
    },
  ];
}

function recordOf({
  kind,
  reader,
  model,
  version,
  promptVersion,
  durationMs,
  costCredits,
  detail,
}: ReadingRecord) {
  return { kind, reader, model, version, promptVersion, durationMs, costCredits, detail };
}
