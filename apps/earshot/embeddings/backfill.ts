import {
  insertRows,
  isoFromClickHouse,
  selectRows,
  type ClickHouseClient,
  type MentionVectorRow,
  NO_ID,
} from '#clickhouse';
import type { Embedder } from '#embeddings';
import type { Database } from '#postgres';
import { vectorRows } from '../../analysis/search/mention-vectors.js';
import { knownWatches } from '../../analysis/readmodels/check-sink.js';

/** How many mentions a semantic search can find. */
export interface EmbeddingsStatus {
  /** The model of this installation's searches. */
  model: string;
  /** Mentions with a title or a text. */
  mentions: number;
  /** Mentions that have a vector of the model. */
  embedded: number;
  /** Vectors of other models, which no search uses. */
  ofOtherModels: number;
}

/** The progress of a backfill. */
export interface BackfillProgress {
  phase: 'embed' | 'done';
  /** Number of mentions that this run has processed, including mentions whose text cannot be embedded. */
  processed: number;
  /** Number of mentions with a text that had no vector of the embedder's model when the run began. */
  total: number;
  /** An estimate from the speed of this run; 0 at the end. */
  secondsLeft: number;
}

/** A day on which some mentions of one account have no vector. */
interface Day {
  account_id: string;
  /** `2026-03-04` */
  day: string;
  missing: number;
}

interface MentionToEmbed {
  account_id: string;
  occurred_at: string;
  event_id: string;
  keyword_id: string;
  watch_id: string;
  source: string;
  kind: string;
  dropped_reason: string;
  title: string;
  text: string;
}

const BATCH = 256;
/** The title of a reply is the title of its parent. */
const REPLY_KINDS = ['comment', 'answer'];
/** Mentions without any text are not embedded. */
const HAS_TEXT = `(title != '' OR text != '')`;

/**
 * Refuses a backfill with another model than that of the services, because it would delete all vectors that the
 * services' searches use. This function assumes that the services use the model of the newest mention's vector, because
 * the services embed new mentions. If the newest mention has vectors of several models, an earlier backfill was
 * interrupted. Then this function cannot find out which of them is the services' model.
 * @throws Error that says what to do
 */
export async function refuseOtherModel(clickhouse: ClickHouseClient, model: string): Promise<void> {
  const models = await selectRows<{ model: string; newest: string }>(
    clickhouse,
    'SELECT model, toString(max(occurred_at)) AS newest FROM mention_vectors GROUP BY model ORDER BY model',
  );
  const newest = models.reduce((latest, one) => (one.newest > latest ? one.newest : latest), '');
  const candidates = models.filter((one) => one.newest === newest).map((one) => one.model);
  const others = candidates.filter((candidate) => candidate !== model);
  if (others.length === 0) return;
  const named = others.join(' and ');
  const loss = `this command would use ${model}, and delete the vectors of ${named}`;
  const advice = 'Give this command the same EMBEDDINGS_URL and the same other settings as the services';
  throw new Error(
    candidates.includes(model)
      ? `the newest mention has vectors of the models ${model} and ${named}, because an earlier backfill was interrupted. ` +
          `So this command cannot find out which model the services use; ${loss}. ${advice}. If you are sure that the ` +
          `services use ${model}, add --model-changed`
      : `the newest ${others.length === 1 ? 'vector is of the model' : 'vectors are of the models'} ${named}, but ${loss}. ${advice}. If you have just changed the model of the ` +
          'services, add --model-changed',
  );
}

/** Counts the mentions and their vectors. */
export async function embeddingsStatus(
  clickhouse: ClickHouseClient,
  model: string,
): Promise<EmbeddingsStatus> {
  const [row] = await selectRows<Record<'mentions' | 'embedded' | 'others', string>>(
    clickhouse,
    `SELECT (SELECT count() FROM mentions FINAL WHERE ${HAS_TEXT}) AS mentions,
       (SELECT count() FROM mention_vectors FINAL WHERE model = {model: String}) AS embedded,
       (SELECT count() FROM mention_vectors FINAL WHERE model != {model: String}) AS others`,
    { model },
  );
  const [mentions, embedded, ofOtherModels] = [row?.mentions, row?.embedded, row?.others].map(Number) as [
    number,
    number,
    number,
  ];
  return { model, mentions, embedded, ofOtherModels };
}

/**
 * Embeds the mentions with a text that have no vector of the embedder's model, the newest days first. Then deletes the
 * vectors of other models. Mentions that are purged meanwhile, and texts that cannot be embedded, get no vector. A run
 * skips mentions that have a vector of the model, so a new run continues an interrupted run. The services can run at
 * the same time.
 * @param report gets the progress after each batch
 * @returns the final progress
 * @throws EmbeddingsUnavailable if the server of EMBEDDINGS_URL does not answer correctly
 */
export async function backfillEmbeddings(
  clickhouse: ClickHouseClient,
  database: Database,
  embedder: Embedder,
  report: (progress: BackfillProgress) => void,
): Promise<BackfillProgress> {
  const days = await missingDays(clickhouse, embedder.model);
  const total = days.reduce((sum, { missing }) => sum + missing, 0);
  const began = Date.now();
  let processed = 0;
  for (const day of days)
    for await (const batch of batchesOf(clickhouse, embedder.model, day)) {
      await embedBatch(clickhouse, database, embedder, batch);
      processed += batch.length;
      const left = ((Date.now() - began) / processed) * Math.max(0, total - processed);
      report({ phase: 'embed', processed, total, secondsLeft: Math.round(left / 1000) });
    }
  await clickhouse.command({
    query: 'ALTER TABLE mention_vectors DELETE WHERE model != {model: String} SETTINGS mutations_sync = 2',
    query_params: { model: embedder.model },
  });
  return { phase: 'done', processed, total, secondsLeft: 0 };
}

/**
 * Returns the days on which an account has fewer vectors of the model than mentions with a text, the newest day first.
 */
function missingDays(clickhouse: ClickHouseClient, model: string): Promise<Day[]> {
  const counts = (table: string, where: string) =>
    `SELECT account_id, toDate(occurred_at) AS day, count() AS n FROM ${table} FINAL WHERE ${where} GROUP BY account_id, day`;
  return selectRows<Day>(
    clickhouse,
    `SELECT toString(m.account_id) AS account_id, toString(m.day) AS day, toUInt32(m.n - v.n) AS missing
     FROM (${counts('mentions', HAS_TEXT)}) AS m
     LEFT JOIN (${counts('mention_vectors', 'model = {model: String}')}) AS v USING (account_id, day)
     WHERE m.n > v.n ORDER BY day DESC, account_id`,
    { model },
  );
}

/**
 * Yields batches of the day's mentions that have no vector of the model, oldest first. Each batch begins after the
 * previous batch: a text that cannot be embedded never gets a vector, and would otherwise be selected forever.
 */
async function* batchesOf(
  clickhouse: ClickHouseClient,
  model: string,
  { account_id, day }: Day,
): AsyncGenerator<MentionToEmbed[]> {
  const ofDay = `account_id = {account: UUID} AND toDate(occurred_at) = {day: Date}`;
  let after = { at: '1970-01-01 00:00:00.000', id: '' };
  for (;;) {
    const batch = await selectRows<MentionToEmbed>(
      clickhouse,
      `SELECT account_id, occurred_at, event_id, keyword_id, watch_id, source, kind, dropped_reason, title, text
       FROM mentions FINAL WHERE ${ofDay} AND ${HAS_TEXT}
         AND (occurred_at, toString(event_id)) > ({at: DateTime64(3, 'UTC')}, {id: String})
         AND event_id NOT IN (SELECT event_id FROM mention_vectors WHERE ${ofDay} AND model = {model: String})
       ORDER BY occurred_at, toString(event_id) LIMIT ${BATCH}`,
      { account: account_id, day, model, ...after },
    );
    const last = batch.at(-1);
    if (!last) return;
    after = { at: last.occurred_at, id: last.event_id };
    yield batch;
  }
}

async function embedBatch(
  clickhouse: ClickHouseClient,
  database: Database,
  embedder: Embedder,
  batch: readonly MentionToEmbed[],
): Promise<void> {
  const rows = await vectorRows(embedder, batch.map(searchable));
  // The existing watches are read after the embedding, because a mention that is purged during the embedding must get
  // no vector.
  const known = await knownWatches(
    database,
    batch.map((mention) => mention.watch_id),
  );
  // Items of Explores have no watch.
  const isKept = (id: string) => id === NO_ID || known.has(id);
  const kept = new Set(batch.filter(({ watch_id }) => isKept(watch_id)).map(({ event_id }) => event_id));
  await insertRows<MentionVectorRow>(
    clickhouse,
    'mention_vectors',
    rows.filter(({ event_id }) => kept.has(event_id)),
  );
}

function searchable(mention: MentionToEmbed) {
  return {
    accountId: mention.account_id,
    occurredAt: isoFromClickHouse(mention.occurred_at),
    eventId: mention.event_id,
    keywordId: mention.keyword_id,
    source: mention.source,
    dropped: mention.dropped_reason !== '',
    explored: mention.watch_id === NO_ID,
    title: mention.title,
    text: mention.text,
    titleOfParent: REPLY_KINDS.includes(mention.kind),
  };
}
