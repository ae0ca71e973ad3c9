import { Inject, Injectable } from '@nestjs/common';
import { selectRows, type ClickHouseClient } from '#clickhouse';
import type { KeywordDefinition } from '#contracts';
import { toBfloat16, type Embedder } from '#embeddings';
import { CLICKHOUSE } from '#platform';
import { itemRulesOf } from '#rules';
import { EMBEDDER } from '../config.js';
import { LOCAL_MODEL } from '../readings/local-reader.js';
import { Similarities } from '../rules/similarities.js';
import { TESTED_COLUMNS, testedItem, type TestedItem, type TestedRow } from './tested-item.js';

/** The mentions of a keyword in a window of time. */
export interface BacktestWindow {
  accountId: string;
  keywordId: string;
  since: Date;
  /** Exclusive. */
  until: Date;
}

/** The position of a mention: its time (in ClickHouse's format) and its id. */
export interface Position {
  at: string;
  id: string;
}

type Key = Pick<TestedRow, 'occurred_at' | 'event_id'>;

/** Number of mentions that are tested in one batch. */
const BATCH_SIZE = 500;
const COLUMNS = TESTED_COLUMNS.join(', ');
const IN_WINDOW = `account_id = {accountId: UUID} AND keyword_id = {keywordId: UUID}
  AND occurred_at >= {since: DateTime64(3, 'UTC')} AND occurred_at < {until: DateTime64(3, 'UTC')}`;

/** Reads the stored mentions of a keyword, and tests rules on them. */
@Injectable()
export class StoredMentions {
  constructor(
    @Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient,
    private readonly similarities: Similarities,
    @Inject(EMBEDDER) private readonly embedder: Pick<Embedder, 'model'>,
  ) {}

  /**
   * Returns whether a test of these rules embeds each mention. Rules compare vectors of the local model. Such vectors
   * are stored only for the whole text, and only if the installation also searches with the local model.
   */
  embedsEach({ rules }: KeywordDefinition): boolean {
    const hasVectors = this.embedder.model === LOCAL_MODEL.embedding;
    return itemRulesOf(rules).similarTo.some(({ field }) => field !== 'text' || !hasVectors);
  }

  /**
   * Returns the time of the mention that has exactly `count` newer mentions in the window; undefined if the window has
   * at most `count` mentions.
   */
  async timeAtOffset(window: BacktestWindow, count: number): Promise<string | undefined> {
    const rows = await selectRows<{ occurred_at: string }>(
      this.clickhouse,
      `SELECT occurred_at FROM mentions FINAL WHERE ${IN_WINDOW} ORDER BY occurred_at DESC LIMIT 1 OFFSET {count: UInt32}`,
      { ...paramsOf(window), count },
    );
    return rows[0]?.occurred_at;
  }

  /** Tests all mentions of the window, in batches. The order is not defined. */
  async *testAll(window: BacktestWindow, definition: KeywordDefinition): AsyncGenerator<TestedItem[]> {
    const result = await this.clickhouse.query({
      query: `SELECT ${COLUMNS} FROM mentions FINAL WHERE ${IN_WINDOW}`,
      query_params: paramsOf(window),
      format: 'JSONEachRow',
    });
    const rows: TestedRow[] = [];
    for await (const part of result.stream<TestedRow>()) {
      for (const line of part) rows.push(line.json());
      while (rows.length >= BATCH_SIZE)
        yield await this.testRows(rows.splice(0, BATCH_SIZE), window, definition);
    }
    if (rows.length > 0) yield await this.testRows(rows, window, definition);
  }

  /**
   * Tests the mentions of the window, newest first.
   * @param after position of the last mention of the previous page; undefined for the first page
   * @param batchSize number of mentions that are read and tested in one batch
   */
  async *testNewestFirst(
    window: BacktestWindow,
    definition: KeywordDefinition,
    after: Position | undefined,
    batchSize: number,
  ): AsyncGenerator<TestedItem> {
    for (let from = after; ;) {
      const keys = await this.keys(window, from, batchSize);
      yield* await this.testRows(await this.rowsOf(keys, window), window, definition);
      const last = keys.at(-1);
      if (!last || keys.length < batchSize) return;
      from = { at: last.occurred_at, id: last.event_id };
    }
  }

  private keys(window: BacktestWindow, after: Position | undefined, limit: number): Promise<Key[]> {
    const afterCondition = after
      ? `AND occurred_at <= {afterAt: DateTime64(3, 'UTC')}
         AND (occurred_at, toString(event_id)) < ({afterAt: DateTime64(3, 'UTC')}, {afterId: String})`
      : '';
    return selectRows<Key>(
      this.clickhouse,
      `SELECT occurred_at, event_id FROM mentions FINAL WHERE ${IN_WINDOW} ${afterCondition}
       ORDER BY occurred_at DESC, toString(event_id) DESC LIMIT {limit: UInt32}`,
      { ...paramsOf(window), limit, ...(after && { afterAt: after.at, afterId: after.id }) },
    );
  }

  /** Returns the mentions with these keys, in the order of the keys. */
  private async rowsOf(keys: readonly Key[], window: BacktestWindow): Promise<TestedRow[]> {
    const [newest, oldest] = [keys[0], keys.at(-1)];
    if (!newest || !oldest) return [];
    const rows = await selectRows<TestedRow>(
      this.clickhouse,
      `SELECT ${COLUMNS} FROM mentions FINAL WHERE ${IN_WINDOW} AND event_id IN (${quotedIds(keys)})
         AND occurred_at BETWEEN {oldest: DateTime64(3, 'UTC')} AND {newest: DateTime64(3, 'UTC')}`,
      { ...paramsOf(window), oldest: oldest.occurred_at, newest: newest.occurred_at },
    );
    const byId = new Map(rows.map((row) => [row.event_id, row]));
    return keys.flatMap(({ event_id }) => byId.get(event_id) ?? []);
  }

  private async testRows(
    rows: readonly TestedRow[],
    window: BacktestWindow,
    definition: KeywordDefinition,
  ): Promise<TestedItem[]> {
    const rules = itemRulesOf(definition.rules);
    const needsVectors = rules.similarTo.some(({ field }) => field === 'text');
    const vectors = needsVectors ? await this.vectors(rows, window) : new Map<string, Uint8Array>();
    const similarities = await this.similarities.of(
      rules,
      rows.map(({ event_id, title, text, title_of_parent: titleOfParent }) => ({
        ...{ title, body: text, titleOfParent },
        ...{ embedding: vectors.get(event_id) ?? NO_VECTOR, embeddingModel: LOCAL_MODEL.embedding },
      })),
    );
    return rows.map((row, index) => testedItem(row, definition, similarities[index]!));
  }

  /** Returns the stored vectors that the local model computed for the mentions, by mention id. */
  private async vectors(
    rows: readonly TestedRow[],
    window: BacktestWindow,
  ): Promise<Map<string, Uint8Array>> {
    if (rows.length === 0) return new Map();
    const times = rows.map(({ occurred_at }) => occurred_at).sort();
    const found = await selectRows<{ event_id: string; embedding: number[] }>(
      this.clickhouse,
      `SELECT event_id, embedding FROM mention_vectors
       WHERE account_id = {accountId: UUID} AND model = {model: String}
         AND occurred_at BETWEEN {oldest: DateTime64(3, 'UTC')} AND {newest: DateTime64(3, 'UTC')}
         AND event_id IN (${quotedIds(rows)})`,
      { accountId: window.accountId, model: LOCAL_MODEL.embedding, oldest: times[0], newest: times.at(-1) },
    );
    return new Map(
      found.map(({ event_id, embedding }) => [event_id, toBfloat16(Float32Array.from(embedding))]),
    );
  }
}

const NO_VECTOR = new Uint8Array();

/**
 * Returns ids as SQL. The ids come from ClickHouse, so they need no escaping. As parameters, they would be
 * part of the request's URL: tens of KB for 1,000 ids.
 */
function quotedIds(rows: readonly { event_id: string }[]): string {
  return rows.map(({ event_id }) => `'${event_id}'`).join(',');
}

function paramsOf({ accountId, keywordId, since, until }: BacktestWindow) {
  return { accountId, keywordId, since: clickHouseTime(since), until: clickHouseTime(until) };
}

function clickHouseTime(at: Date): string {
  return at.toISOString().replace('T', ' ').replace('Z', '');
}
