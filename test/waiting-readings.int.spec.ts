import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { EventSchema, PurgeSchema, ReadingAskedSchema, ReadingFactSchema, type Event } from '#contracts';
import { EventStore } from '#event-store';
import { eventIdOf, isoOf, newId } from '#kernel';
import { batchesOf, connectBus, subjectOf, type Bus } from '#messaging';
import { startService, type RunningService } from '#platform';
import { openDatabase, type Database } from '#postgres';
import { applyBatch, rebuildProjection } from '#projections';
import { createLogger } from '#telemetry';
import { isolateStores, programEnv, until, type IsolatedStores } from '#testing';
import { analysisService } from '../apps/analysis/analysis.module.js';
import { readAnalysisConfig } from '../apps/analysis/config.js';
import { envelopeBytes } from '../apps/analysis/domain/envelope-of.js';
import type { JsMsg } from '@nats-io/jetstream';
import {
  WAITING_SUBJECTS,
  waitingReadingsProjection,
} from '../apps/analysis/projections/waiting-readings.projection.js';
import { QuestionAnswers } from '../apps/analysis/waiting/question-answers.js';
import {
  claimOverdue,
  giveBack,
  renewClaims,
  Turns,
  type Claimed,
} from '../apps/analysis/waiting/waiting-questions.js';
import { simulatedLlm, startSimulator, type Fault, type Simulator } from '../apps/simulator/index.js';

let stores: IsolatedStores;
let simulator: Simulator;
let database: Database;
let bus: Bus;
let store: EventStore;
let services: RunningService[] = [];

beforeAll(async () => {
  [stores, simulator] = await Promise.all([isolateStores(), startSimulator()]);
  database = await openDatabase(stores.databaseUrl, 'spec');
  bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  store = new EventStore(bus);
  services = [await analysis()];
}, 60_000);
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop(500)));
  await bus?.close();
  await database?.destroy();
  await simulator?.stop();
  await stores?.drop();
});
afterEach(() => {
  simulator.faults.clear();
  simulator.requests.clear();
});

function analysis(more: NodeJS.ProcessEnv = {}): Promise<RunningService> {
  const model = { ...simulatedLlm(simulator.url), LLM_REQUESTS_PER_MINUTE: '60000' };
  const config = readAnalysisConfig(programEnv(stores, { LOG_LEVEL: 'silent', ...model, ...more }));
  return startService(analysisService(config), config, false);
}

const fails = (kind: Fault['kind'], times: number, more: Partial<Fault> = {}) =>
  simulator.faults.add({ source: 'llm', kind, times, ...more });
const requests = () => simulator.requests.report('llm').total;

/** What a question asks. */
interface Wanted {
  analysis?: boolean;
  bucketPreset?: string;
  agentStep?: { instruction: string; schema: Record<string, { type: string }> };
  subject?: { names: string[]; role?: string; about?: string };
}

/** A watch of an account whose events wait for the language model. */
class Scene {
  private items = 0;

  constructor(
    readonly accountId = newId(),
    readonly watchId = newId(),
    readonly keywordId = newId(),
  ) {}

  /** Stores the question of an event with this text. @returns the event's id */
  async ask(text: string, wanted: Wanted, deadlineMs = 20_000): Promise<string> {
    const message = this.question(text, wanted, deadlineMs);
    await store.publishAll([message]);
    return message.eventId;
  }

  question(text: string, wanted: Wanted, deadlineMs = 20_000) {
    const { accountId, watchId, keywordId } = this;
    const draft = this.draft(text, wanted.analysis === true);
    const asked = create(ReadingAskedSchema, {
      draft,
      deadline: isoOf(Date.now() + deadlineMs),
      subject: { names: ['Acme'], role: 'own' },
      ...wanted,
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

  /** The stored events of the watch, as the receiver gets them and as billing reads them. */
  async events() {
    const stored = await store.read('EVENTS', subjectOf('EVENTS', this.accountId, this.watchId));
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

  /** Waits for the only event of the watch. */
  async event() {
    const found = await until('the event is published', async () => {
      const events = await this.events();
      return events.length > 0 && events;
    });
    expect(found).toHaveLength(1);
    return found[0]!;
  }
}

const STEP = {
  agentStep: {
    instruction: 'Which product?',
    schema: { product: { type: 'string' }, urgent: { type: 'boolean' } },
  },
};
const waiting = async (watchId: string) =>
  Number(
    (
      await database.query<{ n: string }[]>(
        'SELECT count(*) AS n FROM waiting_readings WHERE watch_id = $1',
        [watchId],
      )
    )[0]?.n,
  );

describe('an event that waits for the language model', () => {
  it('is published once, with sentiment, intent, bucket and step, and is charged for each [states.agent-step-late]', async () => {
    const scene = new Scene();
    const text =
      'sentiment=positive; sentimentScore=0.75; intent=praise; label=iPhone 15 pro; product=Acme 3; urgent=true';
    const wanted = { analysis: true, bucketPreset: 'product-model', ...STEP };
    const id = await scene.ask(text, wanted);
    expect(await scene.event()).toMatchObject({
      id,
      ai: {
        status: 'completed',
        output: { product: 'Acme 3', urgent: true },
        model: 'sim-chat-1',
        version: '1',
      },
      analysis: {
        sentiment: 'positive',
        sentimentScore: 0.75,
        reader: 'llm',
        model: 'sim-chat-1',
        version: '1',
      },
      bucket: 'iPhone 15 pro',
      charges: ['analysis 1', 'bucket 1', 'agent_step 2'],
    });
    await until('nothing waits', async () => (await waiting(scene.watchId)) === 0);
    const facts = await store.read('READINGS', subjectOf('READINGS', scene.accountId, scene.watchId, id));
    expect(facts.map(({ data }) => fromBinary(ReadingFactSchema, data).fact.case)).toEqual([
      'asked',
      'answered',
    ]);
  });

  it('shares a request with the other events of its watch, where the reading allows it', async () => {
    const scene = new Scene();
    await store.publishAll(
      Array.from({ length: 20 }, (_, n) =>
        scene.question(`sentiment=negative; number ${n}`, { analysis: true }),
      ),
    );
    const events = await until('all are published', async () => {
      const found = await scene.events();
      return found.length === 20 && found;
    });
    expect(new Set(events.map(({ analysis: read }) => `${read?.sentiment} ${read?.reader}`))).toEqual(
      new Set(['negative llm']),
    );
    expect(requests()).toBeLessThan(6);
  });

  it('has one bucket for the spellings of one name, with the label that came first', async () => {
    const labels = [];
    const keywordId = newId();
    for (const label of ['iPhone 15 pro', 'iphone15 Pro']) {
      const scene = new Scene(undefined, undefined, keywordId);
      await scene.ask(`label=${label}`, {
        bucketPreset: 'custom',
        subject: { names: ['Acme'], about: 'models' },
      });
      labels.push((await scene.event()).bucket);
    }
    expect(labels).toEqual(['iPhone 15 pro', 'iPhone 15 pro']);
  });

  it('cannot be answered twice, by a second replica or after a claim that was lost', async () => {
    const scene = new Scene();
    // A replica that stops in the middle: its claim ends, and it answers later.
    fails('slow', 1, { delayMs: 300 });
    const id = await scene.ask('product=Acme', STEP);
    const [row] = await until('the question is stored', async () => {
      const rows = await database.query<{ seq: number }[]>(
        'SELECT seq FROM waiting_readings WHERE event_id = $1',
        [id],
      );
      return rows.length > 0 && rows;
    });
    const claimed = {
      ...{
        eventId: id,
        accountId: scene.accountId,
        watchId: scene.watchId,
        seq: row!.seq,
        claim: newId(),
        tries: 1,
      },
      ...{ deadlineAt: Date.now() + 10_000, wasUnderWay: false, cause: undefined },
    };
    const late = new QuestionAnswers(database, store);
    const open = await late.open([claimed]);
    const { event } = await scene.event();
    await renewClaims(database, [claimed.claim]);
    await late.append(
      open.map((question) => ({ question, answers: { step: { kind: 'late', why: 'late' } } })),
    );
    expect((await scene.events()).map((one) => one.event)).toEqual([event]);
    const subject = subjectOf('READINGS', scene.accountId, scene.watchId, id);
    expect(await store.read('READINGS', subject)).toHaveLength(2);
    // A check that was delivered twice repeats its question.
    const repeated = (await store.read('READINGS', subject))[0]!.data;
    await store.publish(subject, repeated, newId());
    const other = new Scene();
    await other.ask('product=Acme', STEP);
    await other.event();
    expect([await waiting(scene.watchId), await scene.events()]).toEqual([
      0,
      [expect.objectContaining({ id })],
    ]);
  });

  it('is deleted with its keyword, also while the model is being asked', async () => {
    const scene = new Scene();
    fails('slow', 1, { delayMs: 500 });
    await scene.ask('product=Acme', STEP);
    await until('the model is asked', () => requests() > 0);
    const { accountId, keywordId, watchId } = scene;
    const purge = toBinary(PurgeSchema, create(PurgeSchema, { accountId, keywordId, watchIds: [watchId] }));
    await store.publish(subjectOf('PURGES', accountId, keywordId), purge, newId());
    await until('nothing waits', async () => (await waiting(watchId)) === 0);
    await until('the request has ended', () =>
      simulator.requests.report('llm').requests.every(({ status }) => status),
    );
    const other = new Scene();
    await other.ask('product=Acme', STEP);
    await other.event();
    expect(await scene.events()).toEqual([]);
    const positions: unknown[] = await database.query(
      'SELECT 1 FROM projection_positions WHERE subject LIKE $1',
      [`%${watchId}%`],
    );
    expect(positions).toEqual([]);
  });
});

describe.each([
  [
    'sentiment',
    { analysis: true },
    'sentiment=negative',
    { analysis: { sentiment: 'negative', reader: 'llm' } },
    { analysis: { sentiment: 'mixed', reader: 'local' }, charges: ['analysis 1', 'bucket 1'] },
  ],
  [
    'a bucket',
    { bucketPreset: 'product-model' },
    'label=Acme 3',
    { bucket: 'Acme 3' },
    { bucket: undefined, charges: [] },
  ],
  [
    'an agent step',
    STEP,
    'product=Acme',
    { ai: { status: 'completed' } },
    { ai: { status: 'failed', output: null }, charges: ['bucket 1'] },
  ],
] as const)('the faults of the language model for %s', (_, wanted, text, answered, unanswered) => {
  const eventAfter = async (...faults: [Fault['kind'], number][]) => {
    for (const [kind, times] of faults) fails(kind, times, kind === '429' ? { retryAfterSeconds: 0 } : {});
    const scene = new Scene();
    await scene.ask(text, wanted);
    return scene.event();
  };

  it.each(['invalid_json', 'schema_violation', 'cut_off'] as const)(
    '%s: once is repaired, twice is final and not charged [states.agent-step-late]',
    async (kind) => {
      expect(await eventAfter([kind, 1])).toMatchObject(answered);
      expect(await eventAfter([kind, 2])).toMatchObject(unanswered);
    },
  );

  it.each(['declined', '403'] as const)('%s is final', async (kind) => {
    expect(await eventAfter([kind, 1])).toMatchObject(unanswered);
    expect(requests()).toBe(1);
  });

  it('429, 5xx and broken answers are tried again', async () => {
    const events = await Promise.all([
      eventAfter(['429', 1]),
      eventAfter(['500', 1]),
      eventAfter(['truncated', 1]),
    ]);
    for (const event of events) expect(event).toMatchObject(answered);
  });
});

describe('the deadline [limits.agent-wait, states.agent-step-late]', () => {
  it('makes a step a timeout where the model is being asked, and failed where it cannot be', async () => {
    fails('hang', 1);
    const hanging = new Scene();
    await hanging.ask('product=Acme; sentiment=positive', { analysis: false, ...STEP }, 600);
    expect(await hanging.event()).toMatchObject({
      ai: { status: 'timeout', output: null },
      charges: ['bucket 1'],
    });
    fails('503', 0);
    const refused = new Scene();
    await refused.ask('product=Acme', STEP, 600);
    expect(await refused.event()).toMatchObject({ ai: { status: 'failed', output: null } });
  });

  it('leaves sentiment, intent and bucket as they were read locally, and says why', async () => {
    fails('hang', 0);
    const scene = new Scene();
    await scene.ask('x', { analysis: true, bucketPreset: 'product-model' }, 400);
    const { event, ...seen } = await scene.event();
    expect(seen).toMatchObject({ analysis: { sentiment: 'mixed', reader: 'local' }, bucket: 'By rule' });
    expect(event.readings.find(({ kind }) => kind === 'analysis')).toMatchObject({
      reader: 'local',
      detail: 'a phrase; the language model did not answer in time',
    });
  });
});

it('while the model is down, events without a step are published at once as they were read locally', async () => {
  fails('500', 0);
  const down = Array.from({ length: 6 }, () => new Scene());
  await store.publishAll(down.map((scene) => scene.question('x', { analysis: true })));
  for (const scene of down)
    expect(await scene.event()).toMatchObject({ analysis: { sentiment: 'mixed', reader: 'local' } });
  expect(requests()).toBeLessThan(24);
});

describe('a restart', () => {
  it('without a language model finishes all that waits at once; with one, the questions are asked again', async () => {
    await Promise.all(services.splice(0).map((service) => service.stop(500)));
    const left = new Scene();
    await left.ask('product=Acme', { analysis: true, ...STEP }, 110_000);
    services = [await analysis({ LLM_URL: '' })];
    expect(await left.event()).toMatchObject({
      ai: { status: 'failed', output: null },
      analysis: { reader: 'local' },
      charges: ['analysis 1', 'bucket 1'],
    });
    await services.pop()?.stop(500);
    const again = new Scene();
    await again.ask('product=Acme', STEP);
    services = await Promise.all([analysis(), analysis()]);
    expect(await again.event()).toMatchObject({ ai: { status: 'completed' } });
  });

  it('two replicas answer each of many questions once, and one request per step is enough', async () => {
    const scene = new Scene();
    simulator.requests.clear();
    await store.publishAll(Array.from({ length: 60 }, (_, n) => scene.question(`product=Acme ${n}`, STEP)));
    const events = await until('all are published', async () => {
      const found = await scene.events();
      return found.length >= 60 && found;
    });
    expect(new Set(events.map(({ id }) => id)).size).toBe(60);
    expect(requests()).toBe(60);
  });
});

describe('the table of questions', () => {
  let quiet: Scene[];

  beforeAll(async () => {
    await Promise.all(services.splice(0).map((service) => service.stop(500)));
    quiet = Array.from({ length: 3 }, () => new Scene());
    const [busy, twin, other] = quiet as [Scene, Scene, Scene];
    await addRows(busy, 10_000);
    await addRows(new Scene(busy.accountId, twin.watchId), 2);
    await addRows(other, 2);
  });

  const addRows = ({ accountId, watchId }: Scene, count: number) =>
    database.query(
      `INSERT INTO waiting_readings (event_id, account_id, watch_id, seq, has_step, deadline_at, due_at)
       SELECT gen_random_uuid(), $1, $2, n, true, now() + interval '1 minute', now() + n * interval '1 microsecond'
       FROM generate_series(1, $3) AS n`,
      [accountId, watchId, count],
    );

  it('gives accounts and watches their turns, however long the queue of one is', async () => {
    const [busy, twin, other] = quiet as [Scene, Scene, Scene];
    const turns = new Turns(database);
    const taken: Claimed[] = [];
    for (let n = 0; n < 8; n += 1) taken.push((await turns.next())[0]!);
    const count = (id: string) =>
      taken.filter(({ accountId, watchId }) => [accountId, watchId].includes(id)).length;
    expect([count(other.accountId), count(twin.watchId)]).toEqual([2, 2]);
    expect(count(busy.watchId)).toBe(4);
    await giveBack(database, [taken[0]!], Date.now());
  });

  it('finishes what is overdue in portions, and leaves a request that is just ending to its replica', async () => {
    await database.query(`UPDATE waiting_readings SET deadline_at = now() - interval '1 second'`);
    const overdue = await claimOverdue(database);
    expect(overdue).toHaveLength(200);
    expect(overdue.every(({ wasUnderWay }) => !wasUnderWay)).toBe(true);
    await database.query('DELETE FROM waiting_readings');
  });

  it('is the same after a rebuild', async () => {
    const scene = new Scene();
    const questions = Array.from({ length: 5 }, (_, n) => scene.question(`product=Acme ${n}`, STEP, 110_000));
    await store.publishAll(questions);
    for await (const batch of batchesOf(bus, 'READINGS', 1, WAITING_SUBJECTS))
      await applyBatch(database, waitingReadingsProjection, batch as unknown as JsMsg[]);
    const rows = () =>
      database.query('SELECT event_id, seq, has_step, deadline_at FROM waiting_readings ORDER BY event_id');
    const { rebuild } = waitingReadingsProjection;
    await rebuildProjection(database, bus, { ...waitingReadingsProjection, rebuild: rebuild! });
    const before: unknown[] = await rows();
    expect(before).toHaveLength(5);
    await database.query('DELETE FROM waiting_readings');
    await rebuildProjection(database, bus, { ...waitingReadingsProjection, rebuild: rebuild! });
    expect(await rows()).toEqual(before);
  });
});
