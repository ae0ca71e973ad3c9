import { fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { insertRows, selectRows, type ClickHouseClient, type MentionRow } from '#clickhouse';
import { LabelDecisionSchema, type LabelDecision } from '#contracts';
import { done, retry, type Outcome } from '#messaging';
import { CLICKHOUSE, DATABASE } from '#platform';
import type { Database } from '#postgres';
import { LABELS_SINK } from '#projections';
import { ConsumerPattern } from '#transport';
import { labelsOf, type LabelRow } from '../projections/labels.projection.js';

const RETRY_MS = 1000;
/**
 * A mention that has no row after this time counts as purged. The time is long, because a rebuild of the table can take
 * minutes.
 */
const GIVEN_UP_AFTER_MS = 3_600_000;

/** Writes people's decisions into the rows of mentions, if the command itself could not write them. */
@Controller()
export class LabelsSink {
  constructor(
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  @ConsumerPattern({ stream: 'LABELS', name: LABELS_SINK, batchSize: 200 })
  async write(batch: readonly JsMsg[]): Promise<Outcome[]> {
    const decisions = batch.map(({ data }) => fromBinary(LabelDecisionSchema, data));
    const written = await writeLabels(this.clickhouse, this.database, decisions);
    return batch.map(({ seq, time }, index) => {
      const version = written.get(decisions[index]?.mentionId ?? '') ?? 0;
      const isOld = Date.now() - time.getTime() > GIVEN_UP_AFTER_MS;
      return version >= seq || isOld ? done : retry(RETRY_MS);
    });
  }
}

/** Updates rows of mentions from `mention_labels`. @returns the version of each mention that has a row */
export async function writeLabels(
  clickhouse: ClickHouseClient,
  database: Database,
  mentions: readonly Pick<LabelDecision, 'accountId' | 'mentionId'>[],
): Promise<Map<string, number>> {
  const labels = await labelsOf(
    database.manager,
    mentions.map(({ mentionId }) => mentionId),
  );
  const byId = new Map(labels.map((row) => [row.mentionId, row]));
  const rows = await selectRows<MentionRow>(
    clickhouse,
    `SELECT * FROM mentions FINAL WHERE account_id IN {accountIds: Array(UUID)} AND event_id IN {ids: Array(UUID)}`,
    {
      accountIds: [...new Set(mentions.map(({ accountId }) => accountId))],
      ids: mentions.map(({ mentionId }) => mentionId),
    },
  );
  const outdated = rows.filter(
    ({ event_id, version }) => Number(version) < (byId.get(event_id)?.version ?? 0),
  );
  await insertRows(
    clickhouse,
    'mentions',
    outdated.map((row) => withLabels(row, byId.get(row.event_id))),
  );
  return new Map(
    rows.map(({ event_id, version }) => [
      event_id,
      Math.max(Number(version), byId.get(event_id)?.version ?? 0),
    ]),
  );
}

/**
 * Returns the row with the person's decisions about the mention. These decisions replace labels that rules have set.
 */
export function withLabels(row: MentionRow, decided: LabelRow | undefined): MentionRow {
  if (!decided) return row;
  const { labels, corrections, version } = decided;
  return {
    ...row,
    labels: labels ? [...labels] : row.labels,
    corrected_sentiment: corrections.sentiment ?? '',
    corrected_intent: corrections.intent ?? '',
    corrected_relevance: corrections.relevance ?? null,
    version,
  };
}
