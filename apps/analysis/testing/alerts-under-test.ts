import { create, fromBinary, toBinary, toJson, type MessageInitShape } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import {
  AlertDecisionSchema,
  CheckSchema,
  EventSchema,
  KeywordDefinitionSchema,
  type AlertEvent,
  type Event,
} from '#contracts';
import { openClickHouse, type ClickHouseClient } from '#clickhouse';
import { EventStore } from '#event-store';
import { isoOf, newId } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { applyInOrder, type Projection } from '#projections';
import { createLogger } from '#telemetry';
import { isolateStores, type IsolatedStores } from '#testing';
import { AlertEventsHandler } from '../handlers/alert-events.handler.js';
import { mentionCountsProjection } from '../projections/mention-counts.projection.js';
import { searchCoverageProjection } from '../projections/search-coverage.projection.js';
import { AlertDecisions } from '../alerts/alert-decisions.js';
import { AlertEvaluation } from '../alerts/alert-evaluation.js';
import { claimTurns, finishTurns } from '../alerts/alert-turns.js';
import { binOf } from '../alerts/windows.js';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
/** The time of all scenes. */
export const NOW = binOf(Date.now()) + MINUTE_MS;

type Definition = MessageInitShape<typeof KeywordDefinitionSchema>;

export const RULE = newId();
/**
 * Returns a volume rule, which fires at five or more mentions in an hour if these are at least twice the usual number.
 */
export const rule = (when: object = {}, then: { type: string; channelIds?: string[] }[] = []) => ({
  id: RULE,
  name: 'Many',
  enabled: true,
  when: { kind: 'volume', window: '1h', min: 5, multiple: 2, ...when },
  then,
});

/** Stores on which specs evaluate alerts. */
export class AlertsUnderTest {
  readonly log = createLogger('spec', 'silent');

  private constructor(
    private readonly stores: IsolatedStores,
    readonly database: Database,
    readonly clickhouse: ClickHouseClient,
    readonly bus: Bus,
    readonly store: EventStore,
  ) {}

  static async open(): Promise<AlertsUnderTest> {
    const stores = await isolateStores();
    const database = await openDatabase(stores.databaseUrl, 'spec');
    const clickhouse = await openClickHouse(stores.clickhouseUrl, 'spec');
    const bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
    return new AlertsUnderTest(stores, database, clickhouse, bus, new EventStore(bus));
  }

  async close(): Promise<void> {
    await this.bus.close();
    await this.clickhouse.close();
    await this.database.destroy();
    await this.stores.drop();
  }

  replica(): AlertEvaluation {
    return new AlertEvaluation(this.database, new AlertDecisions(this.database, this.store), this.log);
  }

  /** Creates a keyword with one search. @param ofSearch id of the search; empty if the watch has no search id */
  scene(definition: Definition, ofSearch: string = newId()): Promise<AlertScene> {
    return AlertScene.with(this, definition, ofSearch);
  }
}

/** A keyword that was created ten hours before `NOW`, with one search, which has covered these hours. */
export class AlertScene {
  readonly accountId = newId();
  readonly keywordId = newId();
  watchId = newId();

  /** @param searchId empty if the watch has no search id */
  private constructor(
    private readonly fixture: AlertsUnderTest,
    private searchId: string,
  ) {}

  static async with(fixture: AlertsUnderTest, definition: Definition, ofSearch: string): Promise<AlertScene> {
    const scene = new AlertScene(fixture, ofSearch);
    const { accountId, keywordId } = scene;
    await fixture.database.query(
      `INSERT INTO accounts (account_id, email, plan, signing_secret_encrypted, created_at)
       VALUES ($1, $2, 'free', '', now())`,
      [accountId, accountId],
    );
    await fixture.database.query(
      `INSERT INTO keywords (keyword_id, account_id, name, state, definition, created_at, updated_at, version)
       VALUES ($1, $2, 'Acme', 'active', '{}', $3, $3, 1)`,
      [keywordId, accountId, new Date(NOW - 10 * HOUR_MS)],
    );
    await scene.putWatch();
    await scene.define(definition);
    await scene.check({ windowFrom: isoOf(NOW - 10 * HOUR_MS), windowTo: isoOf(NOW) });
    return scene;
  }

  async define(definition: Definition): Promise<void> {
    const json = toJson(
      KeywordDefinitionSchema,
      create(KeywordDefinitionSchema, { name: 'Acme', ...definition }),
      {
        alwaysEmitImplicit: true,
      },
    );
    await this.defineJson(json);
  }

  /** Stores a definition that this release possibly cannot decode. */
  async defineJson(json: unknown): Promise<void> {
    await this.fixture.database.query('UPDATE keywords SET definition = $2 WHERE keyword_id = $1', [
      this.keywordId,
      JSON.stringify(json),
    ]);
    await this.changed();
  }

  /**
   * Gives the search another id, as moving it into a list of searches or out of one does. The watch continues.
   * @param searchId empty: the search is in no list
   */
  async moveSearch(searchId: string): Promise<void> {
    this.searchId = searchId;
    await this.fixture.database.query('UPDATE watches SET search_id = $2 WHERE watch_id = $1', [
      this.watchId,
      searchId || null,
    ]);
    await this.changed();
  }

  /**
   * Adds a search to the keyword. Later checks and mentions of the scene are of this search.
   * @param searchId empty: the search is in no list
   */
  async addSearch(searchId = '', source = 'reddit'): Promise<void> {
    this.watchId = newId();
    this.searchId = searchId;
    await this.putWatch(source);
    await this.changed();
  }

  /** Removes a search from the keyword. */
  async removeSearch(watchId: string): Promise<void> {
    await this.fixture.database.query('UPDATE watches SET retired_at = now() WHERE watch_id = $1', [watchId]);
    await this.changed();
  }

  private async putWatch(source = 'reddit'): Promise<void> {
    const { accountId, keywordId, searchId, watchId } = this;
    await this.fixture.database.query(
      `INSERT INTO watches (watch_id, account_id, keyword_id, search_id, source, criteria, criteria_hash,
         interval_seconds, webhook_mode, analysis, backfill, is_active, created_at, updated_at)
       VALUES ($1, $2, $3, $4, $5, '{}', 'x', 60, 'all', true, false, true, now(), now())`,
      [watchId, accountId, keywordId, searchId || null, source],
    );
  }

  /** Increases the version of the keyword, as each change of the keyword does. */
  private async changed(): Promise<void> {
    await this.fixture.database.query('UPDATE keywords SET version = version + 1 WHERE keyword_id = $1', [
      this.keywordId,
    ]);
  }

  /** Replaces the watch by a new watch, as a change of the search's criteria does. */
  async replaceSearch(): Promise<void> {
    const previous = this.watchId;
    this.watchId = newId();
    const sql = 'UPDATE watches SET watch_id = $2, created_at = $3 WHERE watch_id = $1';
    await this.fixture.database.query(sql, [previous, this.watchId, new Date(NOW)]);
    await this.changed();
  }

  async check(more: MessageInitShape<typeof CheckSchema>): Promise<void> {
    const { accountId, keywordId, searchId, watchId } = this;
    const check = create(CheckSchema, { checkId: newId(), accountId, keywordId, searchId, watchId, ...more });
    await this.store(searchCoverageProjection, 'CHECKS', [toBinary(CheckSchema, check)]);
  }

  /** Creates one mention for each number. The mention was published this number of minutes before `NOW`. */
  mentions(...minutesAgo: number[]): Event[] {
    return minutesAgo.map((minutes) => {
      const at = isoOf(NOW - minutes * MINUTE_MS);
      const { accountId, keywordId, searchId, watchId } = this;
      return create(EventSchema, {
        ...{ eventId: newId(), accountId, keywordId, searchId, watchId, source: 'reddit', push: true },
        occurredAt: isoOf(NOW),
        countedAt: at,
        matched: { item: { itemId: newId(), publishedAt: at } },
      });
    });
  }

  publish(events: readonly Event[]): Promise<void> {
    return this.store(
      mentionCountsProjection,
      'EVENTS',
      events.map((event) => toBinary(EventSchema, event)),
    );
  }

  /** Stores messages, and applies all messages of the subject in order. */
  private async store(
    projection: Projection,
    stream: 'EVENTS' | 'CHECKS',
    messages: Uint8Array[],
  ): Promise<void> {
    const subject = subjectOf(stream, this.accountId, this.watchId);
    await this.fixture.store.publishAll(messages.map((data) => ({ subject, data, msgId: newId() })));
    const stored = await this.fixture.store.read(stream, subject);
    await this.fixture.database.transaction((tx) =>
      applyInOrder(
        tx,
        projection,
        stored.map(({ seq, data }) => ({ subject, seq, data, predecessor: 0 })),
      ),
    );
  }

  /**
   * Evaluates the keyword on all these replicas at the same time. For them, the time is `NOW` plus these minutes.
   * @param others scenes that the same call evaluates
   */
  async evaluate(
    minutesLater = 0,
    replicas = [this.fixture.replica()],
    ...others: AlertScene[]
  ): Promise<void> {
    const ids = [this, ...others].map(({ keywordId }) => keywordId);
    // Not now(): the column rounds to milliseconds, so the turn could become due half a millisecond after the claim.
    await this.fixture.database.query("UPDATE alert_turns SET due_at = 'epoch' WHERE keyword_id = ANY ($1)", [
      ids,
    ]);
    const turns = (await claimTurns(this.fixture.database, 100)).filter(({ keywordId }) =>
      ids.includes(keywordId),
    );
    await Promise.all(
      replicas.map(async (one) =>
        finishTurns(this.fixture.database, await one.evaluateTurns(turns, NOW + minutesLater * MINUTE_MS)),
      ),
    );
  }

  /** Returns when the next evaluation is due, in ms; infinity if no evaluation is due. */
  async dueAt(): Promise<number | undefined> {
    const [turn]: { due_at: Date | number }[] = await this.fixture.database.query(
      'SELECT due_at FROM alert_turns WHERE keyword_id = $1',
      [this.keywordId],
    );
    return turn?.due_at.valueOf();
  }

  async facts(): Promise<AlertEvent['event'][]> {
    const stored = await this.fixture.store.read(
      'ALERTS',
      subjectOf('ALERTS', this.accountId, this.keywordId),
    );
    return stored.flatMap(({ data }) =>
      fromBinary(AlertDecisionSchema, data).events.map(({ event }) => event),
    );
  }

  async kinds(): Promise<(string | undefined)[]> {
    return (await this.facts()).map((fact) => fact.case);
  }

  /** Passes all stored alerts to the handler of ALERTS, and returns the events that are then on EVENTS. */
  async events(): Promise<Event[]> {
    const stored = await this.fixture.store.read(
      'ALERTS',
      subjectOf('ALERTS', this.accountId, this.keywordId),
    );
    await new AlertEventsHandler(this.fixture.store, this.fixture.database).handle(
      stored as unknown as JsMsg[],
    );
    const published = await this.fixture.store.read(
      'EVENTS',
      subjectOf('EVENTS', this.accountId, this.keywordId),
    );
    return published.map(({ data }) => fromBinary(EventSchema, data));
  }
}
