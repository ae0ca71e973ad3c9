import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { EventSchema, ReadingAskedSchema, ReadingFactSchema, type Event } from '#contracts';
import { EventStore } from '#event-store';
import { eventIdOf, isoOf, newId } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { startService, type RunningService } from '#platform';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { isolateStores, programEnv, until, type IsolatedStores } from '#testing';
import { analysisService } from '../apps/analysis/analysis.module.js';
import { readAnalysisConfig } from '../apps/analysis/config.js';
import { envelopeBytes } from '../apps/analysis/domain/envelope-of.js';
import { simulatedLlm, startSimulator, type Fault, type Simulator } from '../apps/simulator/index.js';

/** The parts of a question that asks only for an agent step. */
export const STEP = {
  agentStep: {
    instruction: 'Which product?',
    schema: { product: { type: 'string' }, urgent: { type: 'boolean' } },
  },
};

/** Stores, a simulated language model, and the analysis services that the spec starts. */
export class WaitingStage {
  private readonly services: RunningService[] = [];
  readonly store: EventStore;

  private constructor(
    private readonly stores: IsolatedStores,
    readonly simulator: Simulator,
    readonly database: Database,
    readonly bus: Bus,
  ) {
    this.store = new EventStore(bus);
  }

  /** Creates the stores and starts the simulator. */
  static async create(): Promise<WaitingStage> {
    const [stores, simulator] = await Promise.all([isolateStores(), startSimulator()]);
    const database = await openDatabase(stores.databaseUrl, 'spec');
    const bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
    return new WaitingStage(stores, simulator, database, bus);
  }

  /** Starts an analysis service in this process, and resets the failures of the language model. */
  async startAnalysis(more: NodeJS.ProcessEnv = {}): Promise<void> {
    await this.database.query(`UPDATE llm_lane SET failures = 0, blocked_until = 'epoch'`);
    const model = { ...simulatedLlm(this.simulator.url), LLM_REQUESTS_PER_MINUTE: '60000' };
    const config = readAnalysisConfig(programEnv(this.stores, { LOG_LEVEL: 'silent', ...model, ...more }));
    this.services.push(await startService(analysisService(config), config, false));
  }

  /** Stops all analysis services. */
  async stopAnalysis(graceMs = 500): Promise<void> {
    await Promise.all(this.services.splice(0).map((service) => service.stop(graceMs)));
  }

  /** Stops the services and the simulator, and drops the stores. */
  async close(): Promise<void> {
    await this.stopAnalysis();
    await this.bus.close();
    await this.database.destroy();
    await this.simulator.stop();
    await this.stores.drop();
  }

  /** Makes the next `times` requests to the language model fail; 0: all later requests. */
  addFault(kind: Fault['kind'], times: number, more: Partial<Fault> = {}): void {
    this.simulator.faults.add({ source: 'llm', kind, times, ...more });
  }

  /** Number of requests to the language model. */
  get requests(): number {
    return this.simulator.requests.report('llm').total;
  }

  /** Returns the number of questions of the watch that wait. */
  async waiting(watchId: string): Promise<number> {
    const rows: { n: number }[] = await this.database.query(
      'SELECT count(*)::int AS n FROM waiting_readings WHERE watch_id = $1',
      [watchId],
    );
    return rows[0]?.n ?? 0;
  }

  /** Returns a watch of a new account, or with the given ids of account, watch and keyword. */
  scene(...ids: string[]): Scene {
    return new Scene(this.store, ...ids);
  }
}

/** The parts of a question: the wanted readings, and the subject. */
export interface QuestionParts {
  analysis?: boolean;
  bucketPreset?: string;
  agentStep?: { instruction: string; schema: Record<string, { type: string }> };
  subject?: { names: string[]; role?: string; about?: string };
}

/** A watch whose events wait for the language model. */
export class Scene {
  private items = 0;

  constructor(
    private readonly store: EventStore,
    readonly accountId = newId(),
    readonly watchId = newId(),
    readonly keywordId = newId(),
  ) {}

  /** Stores the question of an event with this text. @returns the event's id */
  async ask(text: string, parts: QuestionParts, deadlineMs = 20_000): Promise<string> {
    const message = this.question(text, parts, deadlineMs);
    await this.store.publishAll([message]);
    return message.eventId;
  }

  /** Returns the message that stores the question of an event with this text. */
  question(text: string, parts: QuestionParts, deadlineMs = 20_000) {
    const { accountId, watchId, keywordId } = this;
    const draft = this.draft(text, parts.analysis === true);
    const asked = create(ReadingAskedSchema, {
      draft,
      deadline: isoOf(Date.now() + deadlineMs),
      subject: { names: ['Acme'], role: 'own' },
      ...parts,
    });
    const fact = create(ReadingFactSchema, {
      ...{ accountId, watchId, keywordId, at: isoOf(Date.now()) },
      fact: { case: 'asked', value: asked },
    });
    return {
      eventId: draft.eventId,
      subject: subjectOf('READINGS', accountId, watchId, draft.eventId),
      data: toBinary(ReadingFactSchema, fact),
      msgId: `${draft.eventId}:asked`,
    };
  }

  private draft(text: string, analysed: boolean): Event {
    const { accountId, watchId, keywordId } = this;
    this.items += 1;
    const item = {
      ...{ itemId: `t3_${this.items}`, source: 'reddit', eventType: 'post.created', kind: 'post' },
      ...{ text, bodyJson: JSON.stringify({ id: String(this.items), text }) },
    };
    const event = create(EventSchema, {
      eventId: eventIdOf(watchId, item.itemId),
      ...{ accountId, watchId, keywordId, source: 'reddit', type: 'post.created' },
      occurredAt: isoOf(Date.now()),
      push: true,
      matched: { item },
      bucket: { key: 'by-rule', label: 'By rule' },
      ...(analysed && {
        analysis: {
          sentiment: 'mixed',
          intent: 'other',
          reader: 'local',
          model: 'earshot-local',
          version: '1',
        },
        readings: [{ kind: 'analysis', reader: 'local', detail: 'a phrase' }],
      }),
    });
    return { ...event, envelope: envelopeBytes(event) };
  }

  /** Returns the stored events of the watch: the parts that the receiver gets, and the charges that billing reads. */
  async events() {
    const stored = await this.store.read('EVENTS', subjectOf('EVENTS', this.accountId, this.watchId));
    return stored.map(({ data }) => {
      const event = fromBinary(EventSchema, data);
      const { ai, analysis: read } = JSON.parse(Buffer.from(event.envelope).toString()) as {
        ai: { status: string; output: unknown; model: string | null } | null;
        analysis?: { sentiment: string; reader: string; model: string; version: string };
      };
      const charges = event.charges.map(({ operation, costCredits }) => `${operation} ${costCredits}`);
      return { id: event.eventId, ai, analysis: read, bucket: event.bucket?.label, charges, event };
    });
  }

  /** Waits for the first event of the watch, and expects that there is no other event. */
  async event() {
    const found = await until('the event is published', async () => {
      const events = await this.events();
      return events.length > 0 && events;
    });
    expect(found).toHaveLength(1);
    return found[0]!;
  }
}
