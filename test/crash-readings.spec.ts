import { create, fromBinary, toBinary, toJson } from '@bufbuild/protobuf';
import {
  AgentStepSchema,
  CheckSchema,
  EventSchema,
  KeywordDefinitionSchema,
  ReadingFactSchema,
  type Event,
} from '#contracts';
import { freePort } from '#embedded';
import { EventStore } from '#event-store';
import { checkIdOf, isoOf, newId } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import {
  beginProgram,
  isolateStores,
  openAccount,
  programEnv,
  startProgram,
  until,
  type IsolatedStores,
  type Program,
} from '#testing';
import { simulatedLlm, startSimulator, type Simulator } from '../apps/simulator/index.js';
import { expectAuditAgrees } from './audit.js';

const ITEMS = 40;

let stores: IsolatedStores;
let simulator: Simulator;
let database: Database;
let bus: Bus;
let store: EventStore;
let env: NodeJS.ProcessEnv;
const running = new Map<string, Program>();

beforeAll(async () => {
  [stores, simulator] = await Promise.all([isolateStores(), startSimulator()]);
  env = programEnv(stores, {
    ...simulatedLlm(simulator.url),
    LLM_REQUESTS_PER_MINUTE: '60000',
    LLM_CONCURRENCY: '8',
  });
  running.set('billing', await startProgram('billing', env));
  database = await openDatabase(stores.databaseUrl, 'spec', 2);
  bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  store = new EventStore(bus);
}, 60_000);
afterAll(async () => {
  await Promise.all([...running.values()].map((program) => program.stop()));
  await bus?.close();
  await database?.destroy();
  await simulator?.stop();
  await stores?.drop();
});
/** The points at which a service kills itself, in this order, while the same events wait. */
const KILL_POINTS = [
  // The questions are stored, but the check is not acknowledged.
  ['analysis', 'analysis-after-publish-before-ack:1'],
  // The model has answered, but nothing is stored, and other requests are under way.
  ['analysis', 'readings-after-answer-before-append:5'],
  // Answers are stored, but their events are not published.
  ['analysis', 'readings-after-append:5'],
  // Events are published, but the answers are not acknowledged.
  ['analysis', 'readings-after-publish-before-ack:1'],
  // Some charges are in the stream, but in no table.
  ['billing', 'billing-after-append-before-projection:1'],
] as const;

it('kill -9 of analysis or billing while events wait for the language model loses no event, and charges no reading twice', async () => {
  const scene = await watchWithStep();
  simulator.faults.add({ source: 'llm', kind: 'slow', times: 0, delayMs: 20 });
  await scene.check();
  for (const [service, failpoint] of KILL_POINTS) {
    await running.get(service)?.stop();
    const doomed = beginProgram(service, { ...env, EARSHOT_FAILPOINT: failpoint }, await freePort());
    // Billing has nothing to do without events.
    if (service === 'billing') running.set('analysis', await startProgram('analysis', env));
    await doomed.ended;
    expect([failpoint, doomed.output(), doomed.child.signalCode]).toEqual([
      failpoint,
      doomed.output(),
      'SIGKILL',
    ]);
  }
  running.set('billing', await startProgram('billing', env));
  await expectOneOfEach(scene);
}, 120_000);

type Scene = Awaited<ReturnType<typeof watchWithStep>>;

/** Returns a watch of a new account, with sentiment and an agent step. */
async function watchWithStep() {
  const { accountId } = await openAccount(stores.natsUrl);
  const [keywordId, watchId] = [newId(), newId()];
  const step = { instruction: 'Which product?', schema: { product: { type: 'string' } } };
  const definition = create(KeywordDefinitionSchema, { name: 'Acme', sentimentEnabled: true, aiStep: step });
  await database.query(
    `INSERT INTO keywords (keyword_id, account_id, name, state, definition, created_at, updated_at, version)
     VALUES ($1, $2, 'Acme', 'active', $3, now(), now(), 1)`,
    [keywordId, accountId, JSON.stringify(toJson(KeywordDefinitionSchema, definition))],
  );
  await database.query(
    `INSERT INTO watches (watch_id, account_id, keyword_id, source, criteria, criteria_hash, interval_seconds,
       webhook_mode, analysis, ai, backfill, is_active, created_at, updated_at)
     VALUES ($1, $2, $3, 'reddit', '{"query":"acme"}', 'x', 60, 'all', true, $4, false, true, now(), now())`,
    [watchId, accountId, keywordId, JSON.stringify(toJson(AgentStepSchema, create(AgentStepSchema, step)))],
  );
  /** Stores a check with new items. */
  const check = async () => {
    const at = isoOf(Date.now());
    const data = create(CheckSchema, {
      checkId: checkIdOf(watchId, at),
      ...{ accountId, watchId, keywordId, source: 'reddit', finishedAt: at },
      items: Array.from({ length: ITEMS }, (_, n) => {
        const text = `I love my acme kettle; product=Acme ${n}`;
        const bodyJson = JSON.stringify({ id: `t3_${n}`, text });
        return {
          item: {
            itemId: `t3_${n}`,
            source: 'reddit',
            eventType: 'post.created',
            kind: 'post',
            text,
            bodyJson,
          },
          matches: [{ term: 'acme', field: 'text', start: 10, end: 14 }],
        };
      }),
    });
    await store.publish(subjectOf('CHECKS', accountId, watchId), toBinary(CheckSchema, data), newId());
  };
  return { accountId, watchId, check };
}

/**
 * Expects one answer and one event for each item, and one charge for each of its readings. Copies of an event
 * must have the same bytes.
 */
async function expectOneOfEach({ accountId, watchId }: Scene): Promise<void> {
  await until(
    'every event is published, and nothing is under way',
    async () => {
      const events = await eventsOf(accountId, watchId);
      return new Set(events.map(({ eventId }) => eventId)).size === ITEMS && (await isQuiet());
    },
    30_000,
  );
  const events = await eventsOf(accountId, watchId);
  const copies = new Map<string, Set<string>>();
  for (const { eventId, envelope } of events)
    copies.set(eventId, (copies.get(eventId) ?? new Set()).add(Buffer.from(envelope).toString()));
  expect([...copies.values()].map((bodies) => bodies.size)).toEqual(Array(ITEMS).fill(1));
  const statuses = events.map(({ aiJson }) => (JSON.parse(aiJson) as { status: string }).status);
  expect(new Set(statuses)).toEqual(new Set(['completed']));
  for (const eventId of copies.keys()) {
    const facts = await store.read('READINGS', subjectOf('READINGS', accountId, watchId, eventId));
    const cases = facts.map(({ data }) => fromBinary(ReadingFactSchema, data).fact.case);
    expect(cases.filter((one) => one === 'answered')).toEqual(['answered']);
  }
  await expectAuditAgrees(stores, accountId);
  const charged: { operation: string; n: number; credits: number }[] = await database.query(
    `SELECT operation, count(*)::int AS n, -sum(amount)::int AS credits FROM credit_movements
     WHERE account_id = $1 AND kind = 'charge' GROUP BY operation ORDER BY operation`,
    [accountId],
  );
  expect(charged).toEqual([
    { operation: 'agent_step', n: ITEMS, credits: 2 * ITEMS },
    { operation: 'analysis', n: ITEMS, credits: ITEMS },
  ]);
}

async function eventsOf(accountId: string, watchId: string): Promise<Event[]> {
  const stored = await store.read('EVENTS', subjectOf('EVENTS', accountId, watchId));
  return stored.map(({ data }) => fromBinary(EventSchema, data));
}

/** Returns true if the consumers of checks, of answers and of events have no messages left. */
async function isQuiet(): Promise<boolean> {
  const consumers = [
    ['CHECKS', 'analysis-events'],
    ['READINGS', 'analysis-answered-readings'],
    ['EVENTS', 'billing-events'],
  ] as const;
  const infos = await Promise.all(consumers.map(([stream, name]) => bus.jsm.consumers.info(stream, name)));
  return infos.every((info) => info.num_pending + info.num_ack_pending === 0);
}
