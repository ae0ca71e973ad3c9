import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import type { Simulator } from '../simulator/index.js';
import { BRANDS, type DemoAccount } from './demo-account.js';

const EMAIL = 'team@acme-rocket.example';
const VERIFY_WITHIN_MS = 20_000;
const POLL_INTERVAL_MS = 250;
/**
 * After this time, the first checks have read the history of the simulated sources. A spike is compared with this
 * history.
 */
const BURST_AFTER_MS = 20_000;
/** Number of posts of the spike: many times the number of mentions in one hour of the history. */
const BURST_POSTS = 40;
const BURST_SOURCES = ['hackernews', 'reddit', 'bluesky'] as const;

/** Returns the bodies that create a channel of each kind, on simulated services. */
const CHANNELS = (receiver: string) => [
  { kind: 'slack', config: { webhook_url: 'https://hooks.slack.com/services/T00/B00/demo' } },
  { kind: 'discord', config: { webhook_url: 'https://discord.com/api/webhooks/1/demo' } },
  {
    kind: 'teams',
    config: {
      webhook_url: 'https://demo.logic.azure.com/workflows/demo/triggers/manual/paths/invoke?sig=demo',
    },
  },
  { kind: 'telegram', config: { bot_token: '100001:AAEdemoTokenOfTheDemoBot_0123456789', chat_id: '-1001' } },
  { kind: 'email', config: { to: [EMAIL] } },
  { kind: 'webhook', config: { url: `${receiver}/hooks/channel` } },
];

/**
 * Creates a channel of each kind for the first keyword of the demo. The keyword gets a spike alert, and a rule that
 * notifies these channels. All of them except the webhook get daily briefs. Does nothing if the keyword has channels
 * from an earlier start.
 */
export async function setUpChannels(
  address: string,
  { apiKey, keywordIds }: Pick<DemoAccount, 'apiKey' | 'keywordIds'>,
  { url, inbox }: Pick<Simulator, 'url' | 'inbox'>,
  signal: AbortSignal,
): Promise<void> {
  const call = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) =>
    callApi(method, `${address}${path}`, apiKey, body, signal);
  const keyword = `/v1/queries/${keywordIds[0]}`;
  const known = (await call('GET', keyword)) as { channels: object[] };
  if (known.channels.length > 0) return;
  const ids = new Map<string, string>();
  for (const { kind, config } of CHANNELS(url)) {
    const made = (await call('POST', '/v1/channels', { kind, name: `Demo ${kind}`, config })) as {
      id: string;
    };
    ids.set(kind, made.id);
  }
  await verifyAddress(inbox, signal);
  // A keyword has at most five channels, so the rule names the webhook.
  const channels = [...ids].filter(([kind]) => kind !== 'webhook');
  await call('PATCH', keyword, {
    channels: channels.map(([, channelId]) => ({ channelId, mode: 'daily_brief' })),
    spikeAlert: 'low',
    webhookEvents: ['keyword.alert_fired'],
    rules: [
      {
        name: 'Somebody may leave',
        when: { kind: 'item', all: [{ field: 'intent', op: 'in', value: ['churn_risk', 'complaint'] }] },
        then: [
          { type: 'mark', label: 'to_reply' },
          { type: 'notify' },
          { type: 'notify', channelIds: [ids.get('webhook')] },
        ],
      },
    ],
  });
}

/** Publishes many posts about the first brand within a few seconds, so that its spike alert fires. */
export async function makeSpike(
  { world }: Pick<Simulator, 'world'>,
  signal: AbortSignal,
  afterMs = BURST_AFTER_MS,
): Promise<void> {
  await wait(afterMs, undefined, { signal });
  for (let n = 1; n <= BURST_POSTS; n += 1) {
    const source = BURST_SOURCES[n % BURST_SOURCES.length]!;
    const text = `${BRANDS[0]!.name} is in the news today, everybody at work talks about it (${n})`;
    world.publish(source, { title: text, text });
    await wait(100, undefined, { signal });
  }
}

/** Confirms the address with the link in the mail, as the owner of the address would. */
async function verifyAddress(inbox: Simulator['inbox'], signal: AbortSignal): Promise<void> {
  for (
    const until = Date.now() + VERIFY_WITHIN_MS;
    Date.now() < until;
    await wait(POLL_INTERVAL_MS, undefined, { signal })
  ) {
    const links = inbox
      .messages('smtp', EMAIL)
      .flatMap(({ text }) => /https?:\/\/\S+\/channels\/verify\?token=[\w-]+/.exec(text) ?? []);
    const link = links.at(-1);
    if (link === undefined) continue;
    const { statusCode, body } = await request(link, { method: 'POST', signal });
    await body.dump();
    if (statusCode === 200) return;
  }
  throw new Error('the address was not confirmed: no mail arrived, or the link in the mail failed');
}

async function callApi(
  method: 'GET' | 'POST' | 'PATCH',
  url: string,
  apiKey: string,
  body: object | undefined,
  signal: AbortSignal,
): Promise<unknown> {
  const answer = await request(url, {
    method,
    signal,
    headers: { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 400) throw new Error(`${method} ${url} answered ${answer.statusCode}: ${text}`);
  return JSON.parse(text) as unknown;
}
