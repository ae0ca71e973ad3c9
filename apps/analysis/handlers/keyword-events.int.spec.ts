import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { EventSchema, KeywordDecisionSchema } from '#contracts';
import { EventStore } from '#event-store';
import { isoOf, newId, systemClock } from '#kernel';
import { connectBus, runDurable, subjectOf, type Bus, type RunningDurable } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { KEYWORDS_PROJECTION } from '#projections';
import { createLogger } from '#telemetry';
import { isolateStores, until, type IsolatedStores } from '#testing';
import { KEYWORD_EVENTS, KeywordEventsHandler } from './keyword-events.handler.js';

const log = createLogger('spec', 'silent');
const accountId = newId();
let stores: IsolatedStores;
let database: Database;
let bus: Bus;
let store: EventStore;
let running: RunningDurable;

beforeAll(async () => {
  stores = await isolateStores();
  database = await openDatabase(stores.databaseUrl, 'spec');
  bus = await connectBus(stores.natsUrl, 'spec', log);
  store = new EventStore(bus);
  const handler = new KeywordEventsHandler(store, database);
  running = await runDurable(bus, { ...KEYWORD_EVENTS, handle: (batch) => handler.handle(batch) }, log);
});
afterAll(async () => {
  await running?.stop();
  await bus?.close();
  await database?.destroy();
  await stores?.drop();
});

/** Appends the decision to pause a keyword. */
async function paused(keywordId: string) {
  const subject = subjectOf('KEYWORDS', accountId, keywordId);
  const decision = create(KeywordDecisionSchema, {
    commandId: newId(),
    accountId,
    subjectId: keywordId,
    decidedAt: isoOf(systemClock.now()),
    events: [{ event: { case: 'keywordPaused', value: { reason: 'schedule', stopped: true } } }],
  });
  const last = await store.lastSeq('KEYWORDS', subject);
  const seq = await store.append(subject, toBinary(KeywordDecisionSchema, decision), last, newId());
  return { subject, seq };
}

const project = (subject: string, seq: number) =>
  database.query(
    `INSERT INTO projection_positions (projection, subject, seq) VALUES ($1, $2, $3)
     ON CONFLICT (projection, subject) DO UPDATE SET seq = EXCLUDED.seq`,
    [KEYWORDS_PROJECTION, subject, seq],
  );

const consumer = () => bus.jsm.consumers.info('KEYWORDS', 'analysis-keyword-events');
const delivered = (seq: number) =>
  until('the decision was delivered', async () => {
    const { delivered, num_redelivered } = await consumer();
    return delivered.stream_seq >= seq && num_redelivered > 0;
  });
const settled = () =>
  until('everything is settled', async () => {
    const { num_pending, num_ack_pending } = await consumer();
    return num_pending + num_ack_pending === 0;
  });
const publishedFor = async (keywordId: string) => {
  const events = await store.read('EVENTS', subjectOf('EVENTS', accountId, keywordId));
  return events.map(({ data }) => fromBinary(EventSchema, data).type);
};

it('the event of a pause is published only after the tables contain the pause, because delivery reads the tables', async () => {
  const keywordId = newId();
  const first = await paused(keywordId);
  await delivered(first.seq);
  expect(await publishedFor(keywordId)).toEqual([]);
  await project(first.subject, first.seq);
  await settled();
  expect(await publishedFor(keywordId)).toEqual(['keyword.paused']);
  // It is not enough that the tables contain an earlier decision.
  const second = await paused(keywordId);
  await delivered(second.seq);
  expect(await publishedFor(keywordId)).toEqual(['keyword.paused']);
  await project(second.subject, second.seq);
  await settled();
  expect(await publishedFor(keywordId)).toEqual(['keyword.paused', 'keyword.paused']);
});

it('no event is published for a keyword that was purged meanwhile, and its message is not delivered again', async () => {
  const keywordId = newId();
  const { subject, seq } = await paused(keywordId);
  await delivered(seq);
  await bus.jsm.streams.purge('KEYWORDS', { filter: subject });
  await settled();
  expect(await publishedFor(keywordId)).toEqual([]);
});
