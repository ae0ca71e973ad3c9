import { create, fromBinary, toBinary, toJson } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import {
  DigestAssembledSchema,
  EventSchema,
  KeywordDefinitionSchema,
  type Digest,
  type DigestMode,
  type Event,
} from '#contracts';
import { openClickHouse, type ClickHouseClient } from '#clickhouse';
import { EventStore } from '#event-store';
import { isoOf, newId } from '#kernel';
import { connectBus, done, runDurable, subjectOf, type Bus, type RunningDurable } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { applyBatch, consumerOf, MENTIONS_SINK } from '#projections';
import { createLogger } from '#telemetry';
import { isolateStores, until, type IsolatedStores } from '#testing';
import type { AnalysisWork } from '../analyses/analysis-work.js';
import { digestItemsProjection } from '../projections/digest-items.projection.js';
import { EventsProgress } from '../projection-progress.js';
import { DigestAssembly } from '../digests/digest-assembly.js';
import { syncWithChannels } from '../digests/digest-turns.js';
import { DigestsLoop } from '../digests/digests.loop.js';
import { WeeklyFigures } from '../digests/weekly-figures.js';

export const ZONE = 'Europe/Berlin';
/** A Wednesday, 10:20 in Berlin. */
export const NOW = Date.parse('2026-03-04T09:20:00Z');
export const REPORT_KEY = 'ab'.repeat(32);

/** An analysis whose summary has one sentence for each mention. */
const summarised = {
  run: async (_: unknown, mentions: readonly { id: string; own: string }[]) => ({
    summary: {
      text: '',
      sentences: mentions.map(({ id, own }) => ({ text: own, mentionIds: [id] })),
      reader: 'local',
    },
    errors: [],
  }),
} as unknown as AnalysisWork;

/** Stores on which specs assemble digests. */
export class DigestsUnderTest {
  readonly log = createLogger('spec', 'silent');
  /** Mentions are written to ClickHouse after this promise. */
  mentionsWritten: Promise<void> = Promise.resolve();

  private constructor(
    private readonly stores: IsolatedStores,
    readonly database: Database,
    readonly clickhouse: ClickHouseClient,
    readonly bus: Bus,
    readonly store: EventStore,
    private readonly consumers: RunningDurable[],
  ) {}

  static async open(): Promise<DigestsUnderTest> {
    const log = createLogger('spec', 'silent');
    const stores = await isolateStores();
    const database = await openDatabase(stores.databaseUrl, 'spec');
    const clickhouse = await openClickHouse(stores.clickhouseUrl, 'spec');
    const bus = await connectBus(stores.natsUrl, 'spec', log);
    const handle = (batch: readonly JsMsg[]) => applyBatch(database, digestItemsProjection, batch);
    await database.query(`INSERT INTO installation (key_check, report_key) VALUES ('', $1)`, [REPORT_KEY]);
    const consumers: RunningDurable[] = [];
    const fixture = new DigestsUnderTest(stores, database, clickhouse, bus, new EventStore(bus), consumers);
    const write = async (batch: readonly JsMsg[]) => {
      await fixture.mentionsWritten;
      return batch.map(() => done);
    };
    const sink = { stream: 'EVENTS', name: MENTIONS_SINK, batchSize: 100, handle: write } as const;
    consumers.push(await runDurable(bus, { ...consumerOf(digestItemsProjection), handle }, log));
    consumers.push(await runDurable(bus, sink, log));
    return fixture;
  }

  async close(): Promise<void> {
    await Promise.all(this.consumers.map((consumer) => consumer.stop()));
    await this.bus.close();
    await this.clickhouse.close();
    await this.database.destroy();
    await this.stores.drop();
  }

  assembly(): DigestAssembly {
    const figures = new WeeklyFigures(this.clickhouse, this.database, 'https://earshot.example/');
    return new DigestAssembly(this.database, this.store, summarised, figures, this.log);
  }

  replica(): DigestsLoop {
    return new DigestsLoop(this.database, new EventsProgress(this.bus), this.assembly(), this.log);
  }

  /** Creates a keyword with one channel that gets digests in these modes. */
  scene(...modes: DigestMode[]): Promise<DigestScene> {
    return DigestScene.with(this, ...modes);
  }
}

/** A keyword of an account in Berlin, with one channel that gets digests. */
export class DigestScene {
  readonly accountId = newId();
  readonly keywordId = newId();
  readonly watchId = newId();
  readonly channelId = newId();

  private constructor(private readonly fixture: DigestsUnderTest) {}

  static async with(fixture: DigestsUnderTest, ...modes: DigestMode[]): Promise<DigestScene> {
    const scene = new DigestScene(fixture);
    const { accountId, keywordId } = scene;
    await fixture.database.query(
      `INSERT INTO accounts (account_id, email, plan, signing_secret_encrypted, timezone, created_at)
       VALUES ($1, $2, 'free', '', $3, now())`,
      [accountId, accountId, ZONE],
    );
    await fixture.database.query(
      `INSERT INTO keywords (keyword_id, account_id, name, state, definition, created_at, updated_at, version)
       VALUES ($1, $2, 'Acme', 'active', '{}', now(), now(), 1)`,
      [keywordId, accountId],
    );
    await scene.send(...modes);
    return scene;
  }

  /** Changes the modes of the keyword's channel. */
  async send(...modes: (DigestMode | 'instant')[]): Promise<void> {
    const channels = modes.map((mode) => ({ channelId: this.channelId, mode }));
    const definition = toJson(
      KeywordDefinitionSchema,
      create(KeywordDefinitionSchema, { name: 'Acme', channels }),
    );
    await this.fixture.database.query('UPDATE keywords SET definition = $2 WHERE keyword_id = $1', [
      this.keywordId,
      JSON.stringify(definition),
    ]);
    await syncWithChannels(
      this.fixture.database,
      [this.keywordId],
      await new EventsProgress(this.fixture.bus).lastSeq(),
      NOW,
    );
  }

  event(text: string, more: Partial<Event> = {}): Event {
    const { accountId, keywordId, watchId } = this;
    const occurredAt = isoOf(NOW);
    const matched = {
      item: { itemId: newId(), kind: 'post', source: 'reddit', text, author: 'ada', title: '' },
    };
    const ids = { eventId: newId(), accountId, keywordId, watchId };
    const event = create(EventSchema, { ...ids, occurredAt, matched, source: 'reddit', push: true });
    return { ...event, ...more };
  }

  async publish(...events: Event[]): Promise<void> {
    const subject = subjectOf('EVENTS', this.accountId, this.watchId);
    await this.fixture.store.publishAll(
      events.map((event) => ({ subject, data: toBinary(EventSchema, event), msgId: newId() })),
    );
  }

  async digests(mode: DigestMode): Promise<Digest[]> {
    const subject = subjectOf('DIGESTS', this.accountId, this.keywordId, this.channelId, mode);
    return (await this.fixture.store.read('DIGESTS', subject)).map(
      ({ data }) =>
        JSON.parse(new TextDecoder().decode(fromBinary(DigestAssembledSchema, data).body)) as Digest,
    );
  }

  /** Runs the loop until no digest of the keyword is due at this time (ms). */
  async run(at: number, ...replicas: DigestsLoop[]): Promise<void> {
    await until('the digests are assembled', async () => {
      await Promise.all(
        (replicas.length > 0 ? replicas : [this.fixture.replica()]).map((one) => one.round(at)),
      );
      const [row]: { due: number }[] = await this.fixture.database.query(
        'SELECT count(*)::int AS due FROM digest_turns WHERE keyword_id = $1 AND due_at <= $2',
        [this.keywordId, new Date(at)],
      );
      return row?.due === 0;
    });
  }
}
