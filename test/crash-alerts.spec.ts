import { create, fromBinary } from '@bufbuild/protobuf';
import {
  AlertDecisionSchema,
  attemptsIn,
  ChangeKeywordSchema,
  CreateChannelSchema,
  CreateKeywordSchema,
  DigestAssembledSchema,
  type DigestAssembled,
} from '#contracts';
import { freePort } from '#embedded';
import { EventStore } from '#event-store';
import { newId, Refusal } from '#kernel';
import { COMMANDS, connectBus, type Bus } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { newSigningSecret, SecretBox } from '#secrets';
import { createLogger } from '#telemetry';
import {
  beginProgram,
  fundAccount,
  isolateStores,
  programEnv,
  startProgram,
  until,
  type IsolatedStores,
  type Program,
  type ServiceName,
} from '#testing';
import { CommandClient } from '#transport';
import {
  simulatedChannels,
  startSimulator,
  type ReceivedMail,
  type Simulator,
} from '../apps/simulator/index.js';
import {
  insertChannel,
  keywordWithRule,
  rowOf,
  sceneOf,
  searchOf,
  volumeRule,
  type KeywordScene,
} from './alerts-scene.js';

const MENTIONS = 6;
const HOOK = 'crash-alerts';
const ADDRESS = 'crash@example.org';

let stores: IsolatedStores;
let simulator: Simulator;
let database: Database;
let bus: Bus;
let store: EventStore;
let commands: CommandClient;
let env: NodeJS.ProcessEnv;
const programs: Program[] = [];
let analysis: Program | undefined;
let doomedKeywords: Program;
let doomedDelivery: Program;

beforeAll(async () => {
  [stores, simulator] = await Promise.all([isolateStores(), startSimulator()]);
  env = programEnv(stores, { ...simulatedChannels(simulator), PUBLIC_URL: 'http://127.0.0.1:1' });
  database = await openDatabase(stores.databaseUrl, 'spec', 2);
  bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  store = new EventStore(bus);
  commands = new CommandClient(bus);
  // These programs are for the second test. They start while the first test runs, and get no work from it.
  doomedKeywords = await begin('keywords', 'after-append-before-projection:2');
  doomedDelivery = await begin('delivery', 'delivery-after-post-before-record:1');
}, 60_000);
afterAll(async () => {
  await Promise.all(programs.map((program) => program.stop('SIGKILL')));
  await bus?.close();
  await database?.destroy();
  await stores?.drop();
  await simulator?.stop();
});

/** The points at which analysis kills itself, in this order. */
const KILL_POINTS = [
  // The alert is in ALERTS, but the row that plans the next evaluation is not updated.
  'alerts-after-decision-before-turn:1',
  // The event is in EVENTS, but the alert is not acknowledged.
  'alerts-after-publish-before-ack:1',
  // The digest is in DIGESTS, but the row that plans the next digest is not updated.
  'digests-after-append-before-turn:1',
];

it('kill -9 of analysis during an alert or a digest loses no mention, and repeats no alert and no digest [alerts.once, digests.exactly-once]', async () => {
  const keywords: KeywordScene[] = [];
  for (const failpoint of KILL_POINTS) {
    const keyword = await keywordWithRule({ database, store }, await openAccount());
    keywords.push(keyword);
    await keyword.publish(MENTIONS);
    if (failpoint.startsWith('digests')) await keyword.makeDigestDue();
    await expectKilled(await begin('analysis', failpoint));
  }
  for (const keyword of keywords) await keyword.publish(1);
  analysis = await start('analysis');
  for (const keyword of keywords) await keyword.makeDigestDue();
  for (const keyword of keywords) {
    const items = await until('all mentions are in digests', async () => {
      await keyword.makeDigestDue();
      const found = (await digestsOf(keyword)).flatMap(({ mentionIds }) => mentionIds);
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

it('kill -9 of keywords or delivery at three points loses no data, and creates no second alert or digest [alerts.once, digests.exactly-once]', async () => {
  analysis ??= await start('analysis');
  const accountId = await openAccount();
  const channelId = newId();
  await until('delivery has made the channel', () =>
    commands.request(
      COMMANDS.createChannel,
      create(CreateChannelSchema, {
        ...{ commandId: channelId, accountId, kind: 'webhook', name: 'Team' },
        config: { url: `${simulator.url}/hooks/${HOOK}` },
      }),
    ),
  );
  const { keywordId, unanswered } = await keywordWithInterruptedChange(accountId, channelId);
  const ids = { accountId, keywordId, channelId, ...(await searchOf(database, keywordId)) };
  const keyword = await sceneOf({ database, store }, ids);

  await keyword.publish(MENTIONS);
  await until('delivery has died', async () => {
    await keyword.makeAlertDue();
    return doomedDelivery.child.signalCode === 'SIGKILL';
  });
  const doomedAgain = await begin('delivery', 'delivery-after-claim-before-post:1');
  await keyword.makeDigestDue();
  await expectKilled(doomedAgain);
  const alertId = (await keyword.eventsOfKeyword())[0]?.eventId;
  const [digest] = await digestsOf(keyword);
  const digestId = digest?.digestId;
  const before = simulator.receiver.deliveries(HOOK).map(({ id }) => id);
  expect(new Set(before)).toEqual(new Set([alertId]));

  await begin('delivery');
  // Ends the claim of the dead process now, so that the test does not wait for it.
  await database.query(
    "UPDATE pending_deliveries SET due_at = now() - interval '1 second' WHERE event_id = $1",
    [digestId],
  );
  const recorded = await until('the alert and the digest are recorded as delivered', async () => {
    const found = await deliveredTo(accountId);
    return found.size > 1 && found;
  });
  expect(recorded).toEqual(new Set([alertId, digestId]));
  const deliveries = simulator.receiver.deliveries(HOOK);
  expect(deliveries.every(({ verified }) => verified)).toBe(true);
  expect(new Set(deliveries.map(({ id }) => id))).toEqual(recorded);
  expect(deliveries.filter(({ id }) => id === digestId)).toHaveLength(1);
  // The killed process had not recorded this delivery, so the alert is sent again, with the same bytes.
  const alerts = deliveries.filter(({ id }) => id === alertId);
  expect(alerts.length).toBeGreaterThan(1);
  expect(new Set(alerts.map(({ body }) => body)).size).toBe(1);
  expect(JSON.parse(alerts[0]?.body ?? '')).toMatchObject({ data: { rule: { name: 'Many' } } });

  const decisions = (await keyword.facts('ALERTS')).map((data) => fromBinary(AlertDecisionSchema, data));
  expect(decisions.flatMap(({ events }) => events.map(({ event }) => event.case))).toEqual(['fired']);
  const digests = await digestsOf(keyword);
  expect(digests.map(({ mentionIds }) => mentionIds.toSorted())).toEqual([keyword.published.toSorted()]);
  expect(await unanswered).toBeInstanceOf(Refusal);
}, 90_000);

it('a digest is sent again unchanged, with the same id, after a kill -9 of delivery between its sending and its record [digests.exactly-once]', async () => {
  analysis ??= await start('analysis');
  await Promise.all(programs.filter(({ name }) => name === 'delivery').map((one) => one.stop('SIGKILL')));
  const sent = {
    email: () => mailsTo(ADDRESS).map(({ messageId }) => messageId),
    webhook: () => simulator.receiver.deliveries(`${HOOK}-digest`).map(({ id, body }) => `${id} ${body}`),
  };
  const digestIds: string[] = [];
  for (const kind of ['email', 'webhook'] as const) {
    const accountId = await openAccount();
    const keyword = await keywordWithRule({ database, store }, accountId);
    await insertChannel(
      database,
      accountId,
      keyword.channelId,
      kind === 'email' ? { kind, address: ADDRESS } : { kind, url: `${simulator.url}/hooks/${HOOK}-digest` },
    );
    await keyword.publish(2);
    const doomed = await begin('delivery', 'delivery-after-post-before-record:1');
    await keyword.makeDigestDue();
    await expectKilled(doomed);
    expect(sent[kind]()).toHaveLength(1);
    const digests = await digestsOf(keyword);
    expect(digests.map(({ mentionIds }) => mentionIds.toSorted())).toEqual([keyword.published.toSorted()]);
    digestIds.push(...digests.map(({ digestId }) => digestId));
    expect(await deliveredTo(accountId)).toEqual(new Set());
    // Without this, the delivery process of the next round could send this digest again.
    await database.query(
      `UPDATE pending_deliveries SET due_at = now() + interval '9 minutes' WHERE account_id = $1`,
      [accountId],
    );
  }
  await begin('delivery');
  await database.query(
    `UPDATE pending_deliveries SET due_at = now() - interval '1 second' WHERE due_at > now() + interval '5 minutes'`,
  );
  for (const again of Object.values(sent)) await until('the digest is sent again', () => again().length > 1);
  await until('both digests are recorded, and nothing waits', async () => {
    const rows: object[] = await database.query(
      'SELECT 1 FROM pending_deliveries WHERE event_id = ANY ($1)',
      [digestIds],
    );
    return rows.length === 0;
  });
  for (const again of Object.values(sent)) expect(again()).toEqual([again()[0], again()[0]]);
  expect(sent.email()[0]).toContain(digestIds[0]);
  expect(sent.webhook()[0]).toContain(digestIds[1]);
  expect(
    (await store.read('DIGESTS', 'digests.>')).filter(({ data }) =>
      digestIds.includes(fromBinary(DigestAssembledSchema, data).digestId),
    ),
  ).toHaveLength(2);
}, 90_000);

/**
 * Creates a keyword and gives it a rule and a channel. The keywords service dies after it has stored this
 * change and before the tables contain it; the next process completes the change.
 */
async function keywordWithInterruptedChange(accountId: string, channelId: string) {
  const keywordId = newId();
  const definition = {
    ...{ name: 'Acme', refreshIntervalSeconds: 3600, globalCriteria: { query: 'acme' }, webhookMode: 'all' },
    sources: [{ source: 'reddit', enabled: true }],
  };
  const creation = create(CreateKeywordSchema, { commandId: keywordId, accountId, definition });
  await until('keywords has made the keyword', () => commands.request(COMMANDS.createKeyword, creation));
  const withRule = { rules: [volumeRule('notify')], channels: [{ channelId, mode: 'hourly' }] };
  const change = create(ChangeKeywordSchema, {
    ...{ commandId: newId(), accountId, keywordId, expectedVersion: 1 },
    definition: { ...definition, ...withRule },
  });
  const unanswered = commands.request(COMMANDS.changeKeyword, change).catch((error: unknown) => error);
  await expectKilled(doomedKeywords);
  expect(await rowOf(database, keywordId)).toEqual({ version: 1, rules: [], turns: 0 });
  await start('keywords');
  const changed = await until('the tables have the change, and the digest is planned', async () => {
    const row = await rowOf(database, keywordId);
    return row?.turns === 1 && row;
  });
  expect(changed).toMatchObject({ version: 2, rules: [{ name: 'Many' }] });
  // The client got no answer, and repeats the request.
  await commands.request(COMMANDS.changeKeyword, change);
  expect(await rowOf(database, keywordId)).toEqual(changed);
  // Prevents the digest of the next full hour; `makeDigestDue` makes the digest due.
  await database.query(`UPDATE digest_turns SET due_at = 'infinity' WHERE keyword_id = $1`, [keywordId]);
  return { keywordId, unanswered };
}

function mailsTo(address: string): ReceivedMail[] {
  return simulator.inbox.messages('smtp', address).map(({ payload }) => payload as ReceivedMail);
}

async function digestsOf(keyword: KeywordScene): Promise<DigestAssembled[]> {
  const digests = await keyword.facts('DIGESTS', keyword.channelId, 'hourly');
  return digests.map((data) => fromBinary(DigestAssembledSchema, data));
}

async function start(name: ServiceName): Promise<Program> {
  const program = await startProgram(name, env);
  programs.push(program);
  return program;
}

/**
 * Starts a program without waiting until it is ready. The program kills itself at the failpoint, if there is
 * one.
 */
async function begin(name: ServiceName, failpoint = ''): Promise<Program> {
  const program = beginProgram(name, { ...env, EARSHOT_FAILPOINT: failpoint }, await freePort());
  programs.push(program);
  return program;
}

async function expectKilled(doomed: Program): Promise<void> {
  await doomed.ended;
  expect([doomed.output(), doomed.child.signalCode]).toEqual([doomed.output(), 'SIGKILL']);
}

/** Inserts an account with credits, without billing. The receiver accepts its signatures. */
async function openAccount(): Promise<string> {
  const [accountId, secret] = [newId(), newSigningSecret()];
  // The tables exist before the first program starts, because `openDatabase` creates them.
  await database.query(
    `INSERT INTO accounts (account_id, email, plan, signing_secret_encrypted, created_at)
     VALUES ($1, $2, 'unlimited', $3, now())`,
    [accountId, accountId, new SecretBox(env.MASTER_KEY ?? '').seal(secret)],
  );
  await fundAccount(database, accountId, 1000);
  simulator.receiver.addSecret('*', secret);
  return accountId;
}

/** Returns the ids of the events and digests that are recorded as delivered. */
async function deliveredTo(accountId: string): Promise<Set<string>> {
  const attempts = (await store.read('ATTEMPTS', 'attempts.>')).flatMap(({ data }) => attemptsIn(data));
  const delivered = attempts.filter((one) => one.accountId === accountId && one.delivered);
  return new Set(delivered.map(({ eventId }) => eventId));
}
