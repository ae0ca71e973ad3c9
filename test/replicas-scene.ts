import { until, type Json } from '#testing';
import { expectAuditAgrees } from './audit.js';
import { RotatingClient } from './rotating-client.js';
import { openCustomer, type Customer, type Stage } from './scenario.js';

/** The results of the scene, without ids and times, which differ from run to run. */
export interface Outcome {
  /** Keyword, source and text of each mention. */
  mentions: string[];
  /** Texts of the deliveries, one for each id. */
  deliveries: string[];
  /** Credits that the account `ada` has used, by operation. They do not depend on the speed of the machine. */
  charged: Record<string, number>;
  estimates: Json[];
  keywords: Json[];
  /** The status and code of each answer to the requests of `refused`. */
  refusals: string[];
}

/**
 * An interval so long that the scene has no second tick, so that the cost does not depend on the speed of the
 * machine.
 */
const MONTH = 30 * 24 * 3600;
const NAMES = Array.from({ length: 8 }, (_, n) => `Brand${n}word`);
const POSTS = 6;
const BURST = 60;
/** Mentions of the first scans: eight keywords on hackernews, two of them also on x. */
const FIRST_SCANS = (NAMES.length + 2) * POSTS;

/**
 * Several accounts send requests at the same time, to all gateways in turn. At the end, every ledger must
 * agree with its streams.
 */
export async function runScene(stage: Stage, gateways: readonly string[]): Promise<Outcome> {
  const tweetIds = publishPast(stage);
  const [ada, bob, cai] = [
    await openCustomer(stage, gateways[0] ?? ''),
    await openCustomer(stage, gateways[0] ?? ''),
    await openCustomer(stage, gateways[0] ?? '', 'free'),
  ];
  const [estimates, keywords, deliveries, refusals] = await Promise.all([
    estimatesOf(new RotatingClient(ada, gateways)),
    changedKeywords(new RotatingClient(ada, gateways)),
    pushed(stage, new RotatingClient(bob, gateways)),
    refused(new RotatingClient(cai, gateways), ada),
  ]);
  const client = new RotatingClient(ada, gateways);
  await lookUp(client, tweetIds);
  const accountIds = [ada, bob, cai].map(({ accountId }) => accountId);
  for (const accountId of accountIds) await expectAuditAgrees(stage.stores, accountId);
  const mentions = await Promise.all([
    mentionsOf(new RotatingClient(ada, gateways), FIRST_SCANS),
    mentionsOf(new RotatingClient(bob, gateways), BURST),
  ]);
  return {
    mentions: mentions.flat(),
    deliveries,
    charged: (await client.api.get('/v1/credits')).body.byOperation,
    estimates,
    keywords,
    refusals,
  };
}

/** Publishes the items that the first scans find, before any keyword exists. @returns the ids of the tweets */
function publishPast({ simulator }: Stage): string[] {
  const tweetIds: string[] = [];
  for (const name of NAMES)
    for (let n = 0; n < POSTS; n += 1)
      for (const source of ['hackernews', 'x'] as const) {
        const { id } = simulator.world.publish(source, { text: `${name} of old, ${n}`, title: `On ${name}` });
        if (source === 'x') tweetIds.push(id);
      }
  return tweetIds;
}

const keywordBody = (name: string, more: object = {}) => ({
  name,
  refreshIntervalSeconds: MONTH,
  globalCriteria: { market: 'global', query: name },
  sources: [{ source: 'hackernews', enabled: true }],
  backfill: true,
  ...more,
});

/** The first two keywords also search x, where a first scan is charged per tweet. */
const sourcesOf = (n: number) => ({
  sources: ['hackernews', ...(n < 2 ? ['x'] : [])].map((source) => ({ source, enabled: true })),
});

function estimatesOf(client: RotatingClient): Promise<Json[]> {
  return Promise.all(
    [...NAMES, ...NAMES].map(async (name, n) => {
      const { body } = await client.api.post('/v1/keywords/estimate', keywordBody(name, sourcesOf(n)));
      const { monthlyCredits, checksPerMonth, firstScanCredits } = body.estimate;
      return [name, body.valid, monthlyCredits, checksPerMonth, firstScanCredits];
    }),
  );
}

/** Creates keywords, changes them concurrently, pauses and resumes them. @returns the keywords at the end */
async function changedKeywords(client: RotatingClient): Promise<Json[]> {
  const made = await Promise.all(
    NAMES.map((name, n) => client.once('/v1/keywords', keywordBody(name, sourcesOf(n)), `make ${name}`)),
  );
  await Promise.all(made.map(({ body: { id } }) => polled(client, id)));
  await Promise.all(
    made.flatMap(({ body: { id } }) => [
      change(client, id, { subjectRole: 'competitor' }),
      change(client, id, { muteRules: ['giveaway'] }),
      change(client, id, { vipAuthors: ['ada'] }),
      change(client, id, { webhookEvents: ['keyword.paused'] }),
      client.api.get(`/v1/keywords/${id}`),
      client.api.get('/v1/mentions'),
    ]),
  );
  // These searches start over: their first check is charged and reports no event.
  await Promise.all(
    made
      .slice(0, 3)
      .map(({ body: { id } }, n) =>
        change(client, id, { globalCriteria: { market: 'global', query: `Other${n}word` } }),
      ),
  );
  await Promise.all(made.map(({ body: { id } }) => polled(client, id)));
  for (const verb of ['pause', 'pause', 'resume'])
    await Promise.all(made.map(({ body: { id } }) => client.api.post(`/v1/keywords/${id}/${verb}`, {})));
  const kept = (await client.api.all('/v1/keywords')).map(
    ({
      name,
      state,
      subjectRole,
      muteRules,
      vipAuthors,
      webhookEvents,
      globalCriteria,
      watches,
      version,
    }) => ({
      name,
      state,
      subjectRole,
      muteRules,
      vipAuthors,
      webhookEvents,
      globalCriteria,
      watches: watches.map(({ source, lastStatus }: Json) => [source, lastStatus]),
      version,
    }),
  );
  return kept.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Repeats a change that conflicts with another change. */
async function change(client: RotatingClient, id: string, body: object): Promise<void> {
  await until(
    `${JSON.stringify(body)} is stored`,
    async () => {
      const answer = await client.api.patch(`/v1/keywords/${id}`, body);
      if (answer.status !== 200 && answer.status !== 409) throw new Error(answer.text);
      return answer.status === 200;
    },
    60_000,
  );
}

async function polled(client: RotatingClient, id: string): Promise<void> {
  await until(
    'every watch has had its first check',
    async () => {
      const { body } = await client.api.get(`/v1/keywords/${id}`);
      return body.watches.every(({ lastStatus }: Json) => lastStatus === 'completed');
    },
    60_000,
  );
}

/**
 * Creates a keyword that is checked every second, and publishes its posts while all other requests run.
 * @returns the texts of the deliveries
 */
async function pushed({ simulator }: Stage, client: RotatingClient): Promise<string[]> {
  const hook = `burst-${client.customer.accountId}`;
  const { body } = await client.once(
    '/v1/keywords',
    keywordBody('Burstword', {
      refreshIntervalSeconds: 1,
      backfill: false,
      webhookUrl: `${simulator.url}/hooks/${hook}`,
    }),
    'burst',
  );
  await polled(client, body.id);
  for (let n = 0; n < BURST; n += 1)
    simulator.world.publish('hackernews', { kind: 'comment', text: `Burstword number ${n}` });
  const { receiver } = simulator;
  await until('all events are delivered', () => receiver.countsOf(hook).distinct >= BURST, 90_000);
  // Ends the checks of this keyword, so that the audit finds every check charged.
  await client.api.post(`/v1/keywords/${body.id}/pause`, {});
  const textOf = new Map(
    receiver.deliveries(hook).map(({ eventId, body: envelope, verified }) => {
      if (!verified) throw new Error(`${eventId} is not signed correctly`);
      return [eventId, (JSON.parse(envelope) as { item: { text: string } }).item.text];
    }),
  );
  return [...textOf.values()].sort();
}

/**
 * Sends requests to all gateways. Only three of them are accepted: one watch and two keywords.
 * @returns status and code of each answer
 */
async function refused(client: RotatingClient, ada: Customer): Promise<string[]> {
  const summaryOf = ({ status, body }: { status: number; body: Json }) => `${status} ${body?.code ?? ''}`;
  const lone = { criteria: { query: 'lone' }, refresh_interval_seconds: MONTH };
  const [foreign] = (await ada.api.get('/v1/keywords')).body.data;
  const answers = [
    // Four concurrent requests for the same watch, and five for the two keywords of the plan.
    ...(await Promise.all(Array.from({ length: 4 }, () => client.api.post('/v1/hackernews/watches', lone)))),
    ...(await Promise.all(
      NAMES.slice(0, 5).map((name) =>
        client.api.post('/v1/keywords', keywordBody(name, { backfill: false })),
      ),
    )),
    await client.api.post('/v1/keywords', keywordBody('x', { colour: 'red' })),
    await client.api.post('/v1/keywords', keywordBody('x', { refreshIntervalSeconds: 0 })),
    await client.api.get(`/v1/keywords/${foreign?.id ?? client.customer.accountId}`),
    await client.api.get('/v1/mentions?cursor=forged'),
    await client.api.post('/v1/x/tweets/lookup', { ids: ['none'] }),
  ];
  return answers.map(summaryOf).sort();
}

async function lookUp(client: RotatingClient, tweetIds: readonly string[]): Promise<void> {
  const found = (n: number) =>
    client.once('/v1/x/tweets/lookup', { ids: [...tweetIds.slice(0, 3 + n), '1'] }, `look ${n}`);
  await Promise.all([
    ...Array.from({ length: 2 }, (_, n) => answered(() => found(n))),
    ...Array.from({ length: 4 }, () =>
      answered(() => client.api.get('/v1/reddit/users/ada_byron/moderated')),
    ),
  ]);
}

/** Repeats a lookup that the upstream's limit refuses. A refused lookup costs nothing. */
async function answered(ask: () => Promise<{ status: number; body: Json }>): Promise<void> {
  await until('the lookup is answered', async () => (await ask()).status === 200, 90_000);
}

/** Waits until all mentions are listed: ClickHouse can receive a mention after its webhook was delivered. */
async function mentionsOf(client: RotatingClient, count: number): Promise<string[]> {
  const names = new Map((await client.api.all('/v1/keywords')).map(({ id, name }) => [id, name]));
  const mentions = await until(
    `${count} mentions are listed`,
    async () => {
      const listed = await client.api.all('/v1/mentions?limit=200');
      return listed.length >= count && listed;
    },
    60_000,
  );
  return mentions.map(({ keywordId, source, text }) => `${names.get(keywordId)} ${source}: ${text}`).sort();
}
