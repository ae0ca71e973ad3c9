import { create, fromBinary, toBinary, toJson } from '@bufbuild/protobuf';
import {
  AlertDecisionSchema,
  CheckSchema,
  DigestAssembledSchema,
  EventSchema,
  KeywordDefinitionSchema,
} from '#contracts';
import { freePort } from '#embedded';
import { EventStore } from '#event-store';
import { isoOf, newId } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import {
  beginProgram,
  isolateStores,
  programEnv,
  startProgram,
  until,
  type IsolatedStores,
  type Program,
} from '#testing';

const HOUR_MS = 3_600_000;
const MENTIONS = 6;

let stores: IsolatedStores;
let database: Database;
let bus: Bus;
let store: EventStore;
let env: NodeJS.ProcessEnv;
let analysis: Program | undefined;

beforeAll(async () => {
  stores = await isolateStores();
  env = programEnv(stores);
  database = await openDatabase(stores.databaseUrl, 'spec', 2);
  bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  store = new EventStore(bus);
}, 60_000);
afterAll(async () => {
  await analysis?.stop();
  await bus?.close();
  await database?.destroy();
  await stores?.drop();
});

/** Where analysis kills itself, one after the other. */
const INSTANTS = [
  // The alert is in ALERTS, its turn is still due.
  'alerts-after-decision-before-turn:1',
  // The event is in EVENTS, the alert is not acknowledged.
  'alerts-after-publish-before-ack:1',
  // The digest is in DIGESTS, its row does not know it.
  'digests-after-append-before-turn:1',
];

it('kill -9 of analysis at each step of an alert and a digest loses no mention, and makes no alert and no digest twice [alerts.once, digests.exactly-once]', async () => {
  const keywords: Awaited<ReturnType<typeof keywordWithRule>>[] = [];
  for (const failpoint of INSTANTS) {
    const keyword = await keywordWithRule();
    keywords.push(keyword);
    await keyword.publish(MENTIONS);
    if (failpoint.startsWith('digests')) await keyword.makeDigestDue();
    const doomed = beginProgram('analysis', { ...env, EARSHOT_FAILPOINT: failpoint }, await freePort());
    await doomed.ended;
    expect([doomed.output(), doomed.child.signalCode]).toEqual([doomed.output(), 'SIGKILL']);
  }
  for (const keyword of keywords) await keyword.publish(1);
  analysis = await startProgram('analysis', env);
  for (const keyword of keywords) await keyword.makeDigestDue();
  for (const keyword of keywords) {
    const items = await until('all mentions are in digests', async () => {
      await keyword.makeDigestDue();
      const digests = await keyword.facts('DIGESTS', keyword.channelId, 'hourly');
      const found = digests.flatMap((data) => fromBinary(DigestAssembledSchema, data).mentionIds);
      return found.length > MENTIONS && found;
    });
    expect(items.toSorted()).toEqual(keyword.published.toSorted());
    const alerts = await until('the alert has fired', async () => {
      const decisions = await keyword.facts('ALERTS');
      const found = decisions.flatMap((data) => fromBinary(AlertDecisionSchema, data).events);
      return found.length > 0 && found;
    });
    expect(alerts.map(({ event }) => event.case)).toEqual(['fired']);
    const events = await until('its event is published', async () => {
      const found = await keyword.eventsOfKeyword();
      return found.length > 0 && found;
    });
    expect(new Set(events.map(({ type, eventId }) => `${type} ${eventId}`)).size).toBe(1);
  }
}, 90_000);

/** A keyword with a volume rule and an hourly digest, whose only search covers the last hours. */
async function keywordWithRule() {
  const [accountId, id, searchId, watchId, channelId] = [newId(), newId(), newId(), newId(), newId()];
  const published: string[] = [];
  // The tables are there before the first start of analysis, because `openDatabase` has made them.
  await database.query(
    `INSERT INTO accounts (account_id, email, plan, signing_secret_encrypted, created_at)
     VALUES ($1, $2, 'free', '', now())`,
    [accountId, accountId],
  );
  const when = { kind: 'volume', window: '1h', min: 5, multiple: 2 };
  const definition = create(KeywordDefinitionSchema, {
    name: 'Acme',
    rules: [{ id: newId(), name: 'Many', enabled: true, when, then: [{ type: 'webhook' }] }],
    channels: [{ channelId, mode: 'hourly' }],
  });
  await database.query(
    `INSERT INTO keywords (keyword_id, account_id, name, state, definition, created_at, updated_at, version)
     VALUES ($1, $2, 'Acme', 'active', $3, now(), now(), 1)`,
    [id, accountId, JSON.stringify(toJson(KeywordDefinitionSchema, definition))],
  );
  await database.query(
    `INSERT INTO watches (watch_id, account_id, keyword_id, search_id, source, criteria, criteria_hash,
       interval_seconds, webhook_mode, analysis, backfill, is_active, created_at, updated_at)
     VALUES ($1, $2, $3, $4, 'reddit', '{}', 'x', 60, 'all', true, false, true, now(), now())`,
    [watchId, accountId, id, searchId],
  );
  await database.query(
    `INSERT INTO digest_turns (keyword_id, channel_id, mode, account_id, timezone, period_from, after_seq, due_at)
     VALUES ($1, $2, 'hourly', $3, 'UTC', now() - interval '1 day', 0, 'infinity')`,
    [id, channelId, accountId],
  );
  const ids = { accountId, keywordId: id, searchId, watchId, source: 'reddit' };
  const now = Date.now();
  const check = create(CheckSchema, {
    ...{ ...ids, checkId: newId(), part: 1, parts: 1, finishedAt: isoOf(now) },
    windowFrom: isoOf(now - 10 * HOUR_MS),
    windowTo: isoOf(now),
  });
  await store.publish(subjectOf('CHECKS', accountId, watchId), toBinary(CheckSchema, check), newId());
  return {
    id,
    channelId,
    published,
    async publish(count: number) {
      for (let n = 0; n < count; n += 1) {
        const event = create(EventSchema, {
          ...{ ...ids, eventId: newId(), type: 'post.created', push: true },
          ...{ occurredAt: isoOf(Date.now()), countedAt: isoOf(Date.now()) },
          envelope: new TextEncoder().encode('{}'),
          matched: { item: { itemId: newId(), text: `mention ${n}` } },
        });
        published.push(event.eventId);
        await store.publish(
          subjectOf('EVENTS', accountId, watchId),
          toBinary(EventSchema, event),
          event.eventId,
        );
      }
    },
    makeDigestDue: () =>
      database.query('UPDATE digest_turns SET due_at = now(), claimed_until = now() WHERE keyword_id = $1', [
        id,
      ]),
    facts: async (stream: 'ALERTS' | 'DIGESTS', ...tokens: string[]) =>
      (await store.read(stream, subjectOf(stream, accountId, id, ...tokens))).map(({ data }) => data),
    eventsOfKeyword: async () =>
      (await store.read('EVENTS', subjectOf('EVENTS', accountId, id))).map(({ data }) =>
        fromBinary(EventSchema, data),
      ),
  };
}
