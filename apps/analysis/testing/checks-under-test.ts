import { create, fromBinary, toBinary, toJson, type MessageInitShape } from '@bufbuild/protobuf';
import {
  CheckSchema,
  EventSchema,
  ItemSchema,
  KeywordDefinitionSchema,
  ReadingFactSchema,
  type Event,
} from '#contracts';
import { EventStore } from '#event-store';
import { checkIdOf, isoOf, newId } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { isolateStores, type IsolatedStores } from '#testing';
import { ItemBuckets } from '../readings/item-buckets.js';
import { ItemReadings } from '../readings/item-readings.js';
import type { LocalReading, ReadRequest } from '#readers';
import { EventRules } from '../rules/event-rules.js';
import { Similarities } from '../rules/similarities.js';
import { Stories } from '../readings/stories.js';
import { ChecksHandler } from '../handlers/checks.handler.js';

type Definition = MessageInitShape<typeof KeywordDefinitionSchema>;

export const POSITIVE: LocalReading = {
  lang: 'en',
  relevance: 80,
  reason: 'the company',
  sentiment: 'positive',
  sentimentScore: 0.5,
  intent: 'praise',
};

/** Stores on which specs run the handler of checks. */
export class ChecksUnderTest {
  private constructor(
    private readonly stores: IsolatedStores,
    readonly database: Database,
    private readonly bus: Bus,
    readonly store: EventStore,
  ) {}

  static async open(): Promise<ChecksUnderTest> {
    const stores = await isolateStores();
    const database = await openDatabase(stores.databaseUrl, 'spec');
    const bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
    return new ChecksUnderTest(stores, database, bus, new EventStore(bus));
  }

  async close(): Promise<void> {
    await this.bus.close();
    await this.database.destroy();
    await this.stores.drop();
  }

  /**
   * Returns the handler with a reader that returns `answer`, the requests that the reader gets, and `handle`, which
   * passes one check to the handler.
   */
  handler(answer: (request: ReadRequest) => LocalReading = () => POSITIVE, llm?: object) {
    const asked: ReadRequest[] = [];
    const reader = {
      read: async (requests: readonly ReadRequest[]) => {
        asked.push(...requests);
        return requests.map(answer);
      },
      close: async () => {},
    };
    const readings = new ItemReadings(
      reader,
      this.database,
      this.store,
      new Stories(this.database),
      new ItemBuckets(this.database),
      llm,
    );
    const rules = new EventRules(new Similarities(reader));
    const crashed = { publishAll: () => Promise.reject(new Error('crash')) } as unknown as EventStore;
    const handle = (
      check: ReturnType<CheckScene['check']>,
      redelivered = false,
      crash?: 'before the events',
    ) =>
      new ChecksHandler(this.database, crash ? crashed : this.store, readings, rules, llm).handle([
        messageOf(check, redelivered),
      ]);
    const handler = new ChecksHandler(this.database, this.store, readings, rules, llm);
    return { handle, asked, handler };
  }

  scene(definition: Definition = {}, credits = 100): Promise<CheckScene> {
    return CheckScene.with(this, definition, credits);
  }
}

/** Returns the message of a check. */
export function messageOf(check: ReturnType<CheckScene['check']>, redelivered = false) {
  return { data: toBinary(CheckSchema, check), redelivered };
}

/** An account with a keyword and its watch. */
export class CheckScene {
  readonly accountId = newId();
  readonly keywordId = newId();
  readonly watchId = newId();

  constructor(private readonly fixture: ChecksUnderTest) {}

  static async with(fixture: ChecksUnderTest, definition: Definition, credits: number): Promise<CheckScene> {
    const scene = new CheckScene(fixture);
    const { accountId, keywordId, watchId } = scene;
    const json = toJson(
      KeywordDefinitionSchema,
      create(KeywordDefinitionSchema, { name: 'Acme', sentimentEnabled: true, ...definition }),
    );
    await fixture.database.query(
      `INSERT INTO keywords (keyword_id, account_id, name, state, definition, created_at, updated_at, version)
       VALUES ($1, $2, 'Acme', 'active', $3, now(), now(), 1)`,
      [keywordId, accountId, JSON.stringify(json)],
    );
    await fixture.database.query(
      `INSERT INTO watches (watch_id, account_id, keyword_id, source, criteria, criteria_hash, interval_seconds,
         webhook_mode, analysis, backfill, is_active, created_at, updated_at)
       VALUES ($1, $2, $3, 'reddit', '{"query":"acme"}', 'x', 60, 'all', $4, false, true, now(), now())`,
      [watchId, accountId, keywordId, definition.sentimentEnabled ?? true],
    );
    await fixture.database.query(
      `INSERT INTO credit_balances (account_id, plan, opened_at, period_start, period_end, allowance, allowance_used,
         balance, turns_at, seq) VALUES ($1, 'free', now(), now(), now(), 100, 0, $2, now(), 1)`,
      [accountId, credits],
    );
    return scene;
  }

  check(...items: MessageInitShape<typeof ItemSchema>[]) {
    const at = isoOf(Date.now());
    return create(CheckSchema, {
      checkId: checkIdOf(this.watchId, newId()),
      accountId: this.accountId,
      watchId: this.watchId,
      keywordId: this.keywordId,
      source: 'reddit',
      finishedAt: at,
      part: 1,
      parts: 1,
      items: items.map((item) => ({
        item: {
          itemId: newId(),
          source: 'reddit',
          eventType: 'post.created',
          kind: 'post',
          bodyJson: '{}',
          ...item,
        },
        matches: [{ term: 'acme', field: 'text' }],
      })),
    });
  }

  async events(): Promise<Event[]> {
    const stored = await this.fixture.store.read('EVENTS', subjectOf('EVENTS', this.accountId, this.watchId));
    return stored.map(({ data }) => fromBinary(EventSchema, data));
  }

  async readings() {
    const stored = await this.fixture.store.read(
      'READINGS',
      subjectOf('READINGS', this.accountId, this.watchId),
    );
    return stored.map(({ data }) => fromBinary(ReadingFactSchema, data).fact);
  }

  question(eventId: string) {
    return this.fixture.store.read('READINGS', subjectOf('READINGS', this.accountId, this.watchId, eventId));
  }
}
