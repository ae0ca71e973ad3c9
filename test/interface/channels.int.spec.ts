import { randomBytes } from 'node:crypto';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { request } from 'undici';
import {
  ChannelDecisionSchema,
  DigestAssembledSchema,
  EventSchema,
  type Digest,
  type Event,
} from '#contracts';
import { derivedId, newId } from '#kernel';
import { subjectOf } from '#messaging';
import { AddressLinks } from '#secrets';
import { until, type Json } from '#testing';
import {
  simulatedChannels,
  startSimulator,
  type ReceivedMail,
  type ReceivedMessage,
  type Simulator,
} from '../../apps/simulator/index.js';
import { keywordBody, type Tenant } from './interface-under-test.js';
import { startDeliveries, type DeliveriesUnderTest } from './deliveries-under-test.js';

const HOSTILE =
  '<!channel> <@U1> @everyone @here @ada_lovelace **bold** [x](https://evil.example) <b>html</b> <script>1</script> & "q" `c` \u202Eback';
let sim: Simulator;
let on: DeliveriesUnderTest;
let bob: Tenant;

beforeAll(async () => {
  sim = await startSimulator();
  on = await startDeliveries(true, (url) => ({
    ...simulatedChannels(sim),
    PUBLIC_URL: url || 'http://127.0.0.1:1',
  }));
  bob = await on.service.tenant();
});
afterAll(async () => {
  await on?.stop();
  await sim?.stop();
});
beforeEach(() => {
  sim.inbox.clear();
  sim.faults.clear();
});

const SLACK = 'https://hooks.slack.com/services/T1/B1';
const CONFIGS: Record<string, (secret: string) => Record<string, unknown>> = {
  slack: (secret) => ({ webhook_url: `${SLACK}/${secret}` }),
  discord: (secret) => ({ webhook_url: `https://discord.com/api/webhooks/1/${secret}` }),
  teams: (secret) => ({
    webhook_url: `https://x.logic.azure.com/workflows/${secret}/triggers/manual/paths/invoke?sig=s`,
  }),
  telegram: (secret) => ({ bot_token: `12345:ABCDE${secret}`, chat_id: `-100${secret.length}` }),
};

async function channel(kind: string, config: Record<string, unknown>): Promise<Json> {
  const answer = await on.ada.api.post('/v1/channels', { kind, name: `My ${kind}`, config });
  expect([answer.text, answer.status]).toEqual([answer.text, 201]);
  return answer.body;
}
const read = async (id: string): Promise<Json> => (await on.ada.api.get(`/v1/channels/${id}`)).body;
const chat = (kind: string, secret = newId().slice(-12)) => channel(kind, CONFIGS[kind]?.(secret) ?? {});

async function keyword(more: Record<string, unknown>): Promise<{ keywordId: string; watchId: string }> {
  return on.keyword(null, more);
}
const instant = (...ids: string[]) => ({
  channels: ids.map((channel_id) => ({ channel_id, mode: 'instant' })),
});

async function event(
  { keywordId, watchId }: { keywordId: string; watchId: string },
  more: Partial<Event> = {},
  text = 'Acme is great',
  { accountId }: Tenant = on.ada,
): Promise<string> {
  const id = derivedId('spec', newId());
  const item = {
    id: '1',
    source: 'hackernews',
    url: 'https://example.org/1',
    author: 'ada',
    title: text,
    text,
  };
  const made = create(EventSchema, {
    eventId: id,
    accountId,
    watchId,
    keywordId,
    source: 'hackernews',
    type: 'hn_item.created',
    occurredAt: new Date().toISOString(),
    envelope: Buffer.from(JSON.stringify({ id, type: 'hn_item.created', item })),
    push: true,
    ...(more as object),
  });
  await on.store.publish(subjectOf('EVENTS', accountId, watchId), toBinary(EventSchema, made), id);
  return id;
}

const messages = (count: number, service?: string, to?: string) =>
  until(`${count} messages arrive`, () => {
    const found = sim.inbox.messages(service, to);
    return found.length >= count && found;
  });
const mailIn = (message: ReceivedMessage | undefined) => message?.payload as ReceivedMail;
const linkIn = (mail: ReceivedMail, answer: string) =>
  new RegExp(`http://\\S+/channels/${answer}\\?token=[\\w-]+`).exec(mail.text)?.[0] ?? '';

/** What a browser or a mail program does with a link. */
async function browse(url: string, options: Parameters<typeof request>[1] = {}) {
  const { statusCode: status, body } = await request(url, options);
  const text = await body.text();
  return { status, text };
}

describe('channels', () => {
  it('are created, read with shortened secrets, changed and deleted with their secrets, and are a 404 for another account [channels.crud, channels.secrets, channels.erased]', async () => {
    const made = await chat('slack', 'secret1234');
    expect(made).toMatchObject({ kind: 'slack', state: 'active', config: { webhookUrl: '…1234' } });
    const path = `/v1/channels/${made.id}`;
    expect((await bob.api.get(path)).status).toBe(404);
    expect((await bob.api.patch(path, { name: 'x' })).status).toBe(404);
    expect((await bob.api.post(`${path}/test`, {})).status).toBe(404);
    expect((await bob.api.delete(path)).status).toBe(404);
    const renamed = await on.ada.api.patch(path, { name: 'Team', config: { webhook_url: '…1234' } });
    expect(renamed.body).toMatchObject({ name: 'Team', config: { webhookUrl: '…1234' } });
    expect((await on.ada.api.post(`${path}/test`, {})).body).toMatchObject({
      delivered: true,
      statusCode: 200,
    });
    const replaced = await on.ada.api.patch(path, { config: { webhook_url: `${SLACK}/other9876` } });
    expect(replaced.body.config).toEqual({ webhookUrl: '…9876' });
    const listed = await on.ada.api.get('/v1/channels?kind=slack');
    expect(listed.body.data.map(({ id }: Json) => id)).toContain(made.id);
    const rows: { found: boolean }[] = await on.database.query(
      `SELECT bool_or(c::text LIKE '%other%') AS found FROM channels c`,
    );
    expect(rows).toEqual([{ found: false }]);
    expect((await on.ada.api.delete(path)).status).toBe(204);
    expect((await on.ada.api.get(path)).status).toBe(404);
    await until('only the fact of its deletion is left', async () => {
      const facts = await on.store.read('CHANNELS', subjectOf('CHANNELS', on.ada.accountId, made.id));
      const events = facts.flatMap(({ data }) => fromBinary(ChannelDecisionSchema, data).events);
      return events.map((one) => one.event.case).join() === 'deleted';
    });
  });

  it.each([
    ['slack', {}, 'config.webhook_url'],
    ['slack', { webhook_url: 'http://10.0.0.1/x' }, 'config.webhook_url'],
    ['slack', { webhook_url: '…1234' }, 'config.webhook_url'],
    ['webhook', { url: 'http://169.254.169.254/latest' }, 'config.url'],
    ['webhook', { url: 'ftp://example.org' }, 'config.url'],
    ['telegram', { bot_token: '1:../../x', chat_id: '1' }, 'config.bot_token'],
    ['telegram', { bot_token: '12345:ABCDEF', chat_id: 'x y' }, 'config.chat_id'],
    ['discord', { webhook_url: 'https://discord.com/api/webhooks/1/x', to: ['a@example.org'] }, 'config.to'],
    ['email', { to: ['Ada <ada@example.org>'] }, 'config.to[0]'],
    ['email', { to: ['ada@example.org\r\nBcc: eve@example.org'] }, 'config.to[0]'],
    ['email', { to: ['ada@example.org', 'ADA@example.org'] }, 'config.to[1]'],
    ['email', { to: [] }, 'config.to'],
    ['sms', { to: ['a@example.org'] }, 'kind'],
  ])(
    'of the kind %s with the config %j are refused with a fault of %s [channels.config]',
    async (kind, config, path) => {
      const { status, body } = await on.ada.api.post('/v1/channels', { kind, name: 'x', config });
      expect([status, body.details?.map((one: Json) => one.path)]).toEqual([
        400,
        expect.arrayContaining([path]),
      ]);
    },
  );

  it('in a keyword must exist and belong to the account [channels.admission]', async () => {
    const { id } = await chat('slack');
    const body = keywordBody(instant(id, newId()));
    expect((await on.ada.api.post('/v1/keywords', body)).body.details).toEqual([
      { path: 'channels[1].channel_id', message: 'is not a channel of this account' },
    ]);
    const foreign = await bob.api.post('/v1/keywords', keywordBody(instant(id)));
    expect([foreign.status, foreign.body.details?.[0]?.path]).toEqual([400, 'channels[0].channel_id']);
    expect((await on.ada.api.post('/v1/keywords', keywordBody(instant(id)))).status).toBe(201);
  });
});

describe('a message to a channel', () => {
  it.each(['slack', 'discord', 'teams', 'telegram'])(
    'to %s has the official format and pings nobody, whatever the post says, and is in the activity [channels.formats, channels.hostile, channels.activity]',
    async (kind) => {
      const made = await chat(kind);
      const ids = await keyword({ name: 'Acme <!channel> @everyone', ...instant(made.id) });
      const eventId = await event(ids, {}, HOSTILE);
      const [message] = await messages(1, kind);
      expect([message?.fault, message?.pings]).toEqual([undefined, []]);
      expect(message?.text).not.toMatch(/<!channel>|@everyone|@here|<script>/);
      const lines = await until('it is in the activity', async () => {
        const { body } = await on.ada.api.get(`/v1/keywords/${ids.keywordId}/activity`);
        return body.activity.length > 0 && body.activity;
      });
      expect(lines).toMatchObject([
        { type: 'webhook.delivered', eventId, channelId: made.id, channelKind: kind },
      ]);
    },
  );

  it('to a webhook is the signed bytes of the event, once for each event however many rules name the channel [channels.webhook, channels.once]', async () => {
    const made = await channel('webhook', { url: `${on.receiver.url}/channel` });
    const ids = await keyword(instant(made.id));
    const id = await event(ids, { notifyChannelIds: [made.id], notifyKeywordChannels: true });
    const [first] = await until('it arrives', () => on.receiver.received.length > 0 && on.receiver.received);
    expect([first?.headers['webhook-id'], JSON.parse(String(first?.body)).id]).toEqual([id, id]);
    expect(first?.headers['x-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
    // The next event arrives after it: nothing is sent twice.
    const next = await event(ids);
    await until('the next one arrives', () => on.receiver.received.length >= 2);
    expect(on.receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([id, next]);
  });

  it('goes where a rule notifies, also if the push was withheld, and never to another account [channels.notify]', async () => {
    const [named, own] = [await chat('slack', 'named0001'), await chat('slack', 'owned0001')];
    const foreign = (
      await bob.api.post('/v1/channels', { kind: 'slack', name: 'b', config: CONFIGS.slack?.('bobs00001') })
    ).body;
    const ids = await keyword({
      channels: [{ channel_id: own.id, mode: 'daily' }],
      rules: [
        {
          name: 'r',
          when: { kind: 'item', all: [{ field: 'text', op: 'contains', value: 'x' }] },
          then: [{ type: 'notify', channel_ids: [named.id] }],
        },
      ],
    });
    await event(ids, { push: false, notifyChannelIds: [named.id, foreign.id] });
    await event(ids, { push: false, notifyKeywordChannels: true });
    await messages(2, 'slack');
    // Every event before it was handled when it arrives.
    await event(ids, { push: false, notifyChannelIds: [own.id] }, 'marker');
    await messages(3, 'slack');
    expect(
      sim.inbox
        .messages('slack')
        .map(({ to }) => to)
        .sort(),
    ).toEqual(['/services/T1/B1/named0001', '/services/T1/B1/owned0001', '/services/T1/B1/owned0001']);
  });

  it('waits as long as the service asks in its 429, and the other messages to it as well [channels.retry-after]', async () => {
    const made = await chat('discord', 'paused001');
    const ids = await keyword(instant(made.id));
    sim.faults.add({ source: 'discord', kind: '429', times: 1, retryAfterSeconds: 1 });
    const began = Date.now();
    const first = await event(ids);
    const refused = await until('the first attempt', async () =>
      (await on.attempts()).find((one) => one.eventId === first),
    );
    expect(refused).toMatchObject({ statusCode: 429, delivered: false, number: 1 });
    expect(Date.parse(refused.nextAttemptAt) - Date.parse(refused.at)).toBeGreaterThanOrEqual(1000);
    await event(ids);
    await messages(2, 'discord');
    expect(Date.now() - began).toBeGreaterThanOrEqual(1000);
    const attempts = await until('both are recorded as delivered', async () => {
      const found = (await on.attempts()).filter(({ channelId }) => channelId === made.id);
      return found.filter(({ delivered }) => delivered).length === 2 && found;
    });
    expect(attempts.filter(({ statusCode }) => statusCode === 429).length).toBe(1);
  });

  it('of a burst of 500 arrives once, in the order of their time, although the receiver answers 429 [channels.retry-after, channels.burst, channels.order]', async () => {
    const path = `/burst-${newId()}`;
    const made = await channel('webhook', { url: `${on.receiver.url}${path}` });
    const ids = await keyword(instant(made.id));
    on.receiver.answers.set(path, { status: 429, headers: { 'retry-after': '1' } });
    const sent: string[] = [];
    for (let n = 0; n < 250; n += 1) sent.push(await event(ids));
    await until('it has answered 429', () => on.receiver.received.some((one) => one.path === path));
    const refused = on.receiver.received.filter((one) => one.path === path).length;
    on.receiver.answers.delete(path);
    for (let n = 0; n < 250; n += 1) sent.push(await event(ids));
    const arrived = await until(
      'all arrive',
      () => {
        const found = on.receiver.received.filter((one) => one.path === path).slice(refused);
        return found.length >= 500 && found.map(({ headers }) => String(headers['webhook-id']));
      },
      60_000,
    );
    expect(arrived.toSorted()).toEqual(sent.toSorted());
    // Events that are sent at the same time can overtake each other. Events that wait after a 429 would be overtaken by all 250 new ones.
    const places = new Map(sent.map((id, n) => [id, n]));
    expect(Math.max(...arrived.map((id, n) => Math.abs((places.get(id) ?? 0) - n)))).toBeLessThan(125);
  }, 90_000);

  it('is limited to the rate of the service: a burst waits, in order, and nothing is lost [channels.burst]', async () => {
    const made = await chat('telegram', 'burst0001');
    const ids = await keyword(instant(made.id));
    for (let n = 0; n < 12; n += 1) await event(ids, {}, `number ${n}`);
    // The rate gives 5 at once and then one in 3 s: how many have come depends on the machine, their sum does not.
    const sent = await until('each was sent or waits', async () => {
      const rows: { waiting: number }[] = await on.database.query(
        'SELECT count(*)::int AS waiting FROM pending_deliveries WHERE endpoint = $1',
        [`channel:${made.id}`],
      );
      const count = sim.inbox.messages('telegram').length;
      return count >= 5 && count + (rows[0]?.waiting ?? 0) === 12 && count;
    });
    expect(sent).toBeLessThan(12);
    // A deleted channel gets none of them.
    await on.ada.api.delete(`/v1/channels/${made.id}`);
    await on.database.query('DELETE FROM pending_deliveries WHERE endpoint = $1', [`channel:${made.id}`]);
  });

  it('to a destination that is gone disables the channel, gives up what waits, and tells the keyword [channels.gone, channels.disabled-told]', async () => {
    const [gone, other] = [await chat('slack', 'gone000001'), await chat('slack', 'other00001')];
    const ids = await keyword(instant(gone.id, other.id));
    const id = await event(ids);
    await until('it is disabled', async () => (await read(gone.id)).state === 'disabled');
    expect((await read(gone.id)).disabledReason).toBe('Slack answered 404 (no_service)');
    const report = await until('the other channel gets the report', () =>
      sim.inbox.messages('slack', '/services/T1/B1/other00001').find(({ text }) => /is disabled/.test(text)),
    );
    expect([report.fault, report.pings]).toEqual([undefined, []]);
    await event(ids);
    const unsent = await until('the next event is given up', async () =>
      (await on.attempts()).find(
        (one) => one.channelId === gone.id && one.eventId !== id && one.number === 0,
      ),
    );
    expect(unsent.message).toMatch(/^not sent: the channel is disabled/);
    const { body } = await on.ada.api.get(`/v1/keywords/${ids.keywordId}/activity`);
    expect(body.activity).toContainEqual(
      expect.objectContaining({ type: 'webhook.failed', channelId: gone.id, statusCode: 404 }),
    );
    const enabled = await on.ada.api.post(`/v1/channels/${gone.id}/enable`, {});
    expect(enabled.body).toMatchObject({ state: 'active', disabledReason: null });
  });

  it('that has only failed for 5 days disables the channel [channels.gone]', async () => {
    const made = await chat('slack', 'failing001');
    const ids = await keyword(instant(made.id));
    await on.database.query(
      `INSERT INTO webhook_endpoints (account_id, endpoint, failing_since, failures) VALUES ($1, $2, now() - interval '6 days', 40)`,
      [on.ada.accountId, `channel:${made.id}`],
    );
    sim.faults.add({ source: 'slack', kind: '500', times: 1, path: 'failing001' });
    await event(ids);
    await until('it is disabled', async () => (await read(made.id)).state === 'disabled');
    expect((await read(made.id)).disabledReason).toBe('only failures for 5 days');
    const found = await until('its delivery can be found', async () => {
      const { body } = await on.ada.api.get(`/v1/deliveries?endpoint=channel:${made.id}`);
      return body.data[0]?.attempts.length === 2 && body.data;
    });
    expect(found).toMatchObject([{ state: 'given_up', target: { kind: 'channel', id: made.id } }]);
    // Nobody can enable it as a webhook address.
    const { body } = await on.ada.api.get('/v1/endpoints');
    expect(body.data.some(({ url }: Json) => url.startsWith('channel:'))).toBe(false);
  });

  it('is not sent after its channel or its keyword was deleted meanwhile [channels.deleted]', async () => {
    const made = await chat('teams', 'deleted01');
    const ids = await keyword(instant(made.id));
    sim.faults.add({ source: 'teams', kind: '503', times: 1 });
    const id = await event(ids);
    await until('the first attempt failed', async () =>
      (await on.attempts()).some((one) => one.eventId === id),
    );
    await on.ada.api.delete(`/v1/channels/${made.id}`);
    await on.database.query('UPDATE pending_deliveries SET due_at = now() WHERE event_id = $1', [id]);
    const last = await until('it is given up', async () =>
      (await on.attempts()).find((one) => one.eventId === id && one.number === 0),
    );
    expect(last.message).toBe('not sent: the channel was deleted');
  });
});

describe('an email channel', () => {
  it('sends nothing until the owner of the address confirms, and then text and HTML with a one-click unsubscription [channels.verification, channels.mail, channels.unsubscribe]', async () => {
    const made = await channel('email', { to: ['ada@example.org'] });
    expect(made).toMatchObject({
      state: 'unverified',
      addresses: [{ address: 'ada@example.org', state: 'unverified' }],
    });
    const ids = await keyword({ name: 'Acme', ...instant(made.id) });
    const [asked] = await messages(1, 'smtp', 'ada@example.org');
    const mail = mailIn(asked);
    expect([mail.subject, asked?.fault]).toEqual(['Confirm your address for Earshot', undefined]);
    expect(mail.raw).not.toContain('My email');
    await event(ids);
    const unsent = await until('the event is not sent', async () =>
      (await on.attempts()).find((one) => one.channelId === made.id && one.number === 0),
    );
    expect(unsent.message).toBe('not sent: the address is not verified');
    const verify = linkIn(mail, 'verify');
    const page = await browse(verify);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('<form method="post">')]);
    expect((await read(made.id)).state).toBe('unverified');
    expect((await browse(verify, { method: 'POST' })).status).toBe(200);
    expect(await read(made.id)).toMatchObject({ state: 'active', addresses: [{ state: 'verified' }] });
    sim.inbox.clear();

    await event(ids, {}, HOSTILE);
    const [message] = await messages(1, 'smtp', 'ada@example.org');
    const sent = mailIn(message);
    expect([message?.fault, sent.subject, sent.from]).toEqual([
      undefined,
      'Acme: Hacker News',
      'earshot@example.org',
    ]);
    expect(sent.html).not.toMatch(/<script|<b>html/);
    expect(sent.html).toContain('&lt;b&gt;html&lt;/b&gt;');
    expect(sent.headers['list-unsubscribe-post']).toBe('List-Unsubscribe=One-Click');
    const unsubscribe = /^<(http:\/\/[^>]+)>$/.exec(sent.headers['list-unsubscribe'] ?? '')?.[1] ?? '';
    expect((await browse(unsubscribe)).status).toBe(200);
    expect((await read(made.id)).state).toBe('active');
    const oneClick = await browse(unsubscribe, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click',
    });
    expect(oneClick.status).toBe(200);
    expect(await read(made.id)).toMatchObject({
      state: 'disabled',
      disabledReason: 'every address has unsubscribed',
      addresses: [{ state: 'unsubscribed' }],
    });
    expect((await browse(unsubscribe.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')))).status).toBe(404);
  });

  it('refuses an address for good after a 5xx for the recipient, and keeps the others [channels.mail-refused]', async () => {
    const made = await channel('email', { to: ['eve@example.org', 'status-550@example.org'] });
    const [mail] = await messages(1, 'smtp', 'eve@example.org');
    await browse(linkIn(mailIn(mail), 'verify'), { method: 'POST' });
    const refused = await until('the other address is refused', async () =>
      (await on.attempts()).find((one) => one.channelId === made.id && one.statusCode === 550),
    );
    expect(refused).toMatchObject({ targetKind: 'verification', nextAttemptAt: '' });
    expect(refused.message).toBe('the mail server answered 550 5.1.1: it does not accept the address');
    const ids = await keyword(instant(made.id));
    sim.inbox.clear();
    await event(ids);
    await messages(1, 'smtp', 'eve@example.org');
    expect(await read(made.id)).toMatchObject({
      state: 'active',
      addresses: [{ state: 'verified' }, { state: 'refused' }],
    });
    const alone = await channel('email', { to: ['status-551@example.org'] });
    await until(
      'a channel without another address is disabled',
      async () => (await read(alone.id)).state === 'disabled',
    );
  });

  it('sends a mail again after a 4xx of the mail server [channels.mail-retried]', async () => {
    const made = await channel('email', { to: ['greylist@example.org'] });
    const first = await until('the first attempt', async () =>
      (await on.attempts()).find((one) => one.channelId === made.id),
    );
    expect([first.statusCode, first.nextAttemptAt !== '']).toEqual([451, true]);
    await on.database.query('UPDATE pending_deliveries SET due_at = now() WHERE event_id = $1', [
      first.eventId,
    ]);
    await until('it arrives', () =>
      sim.inbox.messages('smtp', 'greylist@example.org').some(({ status }) => status === 250),
    );
  });

  it('asks an unverified address again beside a verified one: by a test, and when it is removed and added again [channels.verification]', async () => {
    const made = await channel('email', { to: ['here@example.org', 'silent@example.org'] });
    const [mail] = await messages(1, 'smtp', 'here@example.org');
    await browse(linkIn(mailIn(mail), 'verify'), { method: 'POST' });
    await messages(1, 'smtp', 'silent@example.org');
    const path = `/v1/channels/${made.id}`;
    expect((await on.ada.api.post(`${path}/test`, {})).body).toMatchObject({
      delivered: true,
      message: 'the test message was accepted; the verification was sent again to silent@example.org',
    });
    await messages(2, 'smtp', 'silent@example.org');
    await on.ada.api.patch(path, { config: { to: ['here@example.org'] } });
    await on.ada.api.patch(path, { config: { to: ['here@example.org', 'silent@example.org'] } });
    await messages(3, 'smtp', 'silent@example.org');
    const { body } = await on.ada.api.post(`${path}/test`, {});
    expect(body).toMatchObject({ delivered: true });
    expect(body.message).toMatch(/silent@example\.org has got 3 verification mails today/);
  });

  it('sends at most three verification mails a day to an address [channels.verification-limit]', async () => {
    const made = await channel('email', { to: ['victim@example.org'] });
    const test = () => on.ada.api.post(`/v1/channels/${made.id}/test`, {});
    expect((await test()).body).toMatchObject({ delivered: false, statusCode: null });
    expect((await test()).status).toBe(200);
    const { status, body } = await test();
    expect([status, body.code]).toEqual([429, 'TOO_MANY_REQUESTS']);
  });
});

describe('the messages of an account', () => {
  const sendBob = async (channelId: string) => {
    const { body } = await bob.api.post('/v1/keywords', keywordBody(instant(channelId)));
    return () => event({ keywordId: body.id, watchId: body.watches[0].id }, {}, 'For Bob', bob);
  };
  /** Whether a request with an event for these channels has ended. */
  const hasEnded = async (...ids: string[]) =>
    (await on.attempts()).some(
      ({ channelId, targetKind, number }) =>
        number > 0 && targetKind === 'channel' && ids.includes(channelId),
    );

  /** An email channel of which each address is verified. */
  async function verified({ api, accountId }: Tenant, ...to: string[]): Promise<string> {
    const { body } = await api.post('/v1/channels', { kind: 'email', name: 'Mail', config: { to } });
    const links = new AddressLinks('5e'.repeat(32), on.service.url);
    await until('its addresses are asked', () =>
      to.every((address) => sim.inbox.messages('smtp', address).length > 0),
    );
    for (const address of to) {
      const ref = { accountId, channelId: body.id, address };
      expect((await browse(links.urlOf('verify', ref, Date.now()), { method: 'POST' })).status).toBe(200);
    }
    return body.id;
  }

  it('do not wait behind the many mails of another account, of which none is lost or sent twice [channels.fair]', async () => {
    const [mails, events] = [5, 30];
    const sendToBob = await sendBob(await verified(bob, 'bob@example.org'));
    const channels: string[] = [];
    for (let n = 0; n < mails; n += 1) channels.push(await verified(on.ada, `flood-${n}@example.org`));
    const ids = await keyword(instant(...channels));
    const arrived = () =>
      sim.inbox
        .messages('smtp')
        .filter(({ to, text }) => /^(flood|bob@)/.test(to) && /Acme is great|For Bob/.test(text));
    await Promise.all(Array.from({ length: events }, () => event(ids)));
    await sendToBob();
    const all = await until('all arrive', () => arrived().length > mails * events && arrived(), 60_000);
    expect(new Set(all.map((one) => mailIn(one).messageId)).size).toBe(mails * events + 1);
    expect(all.length).toBe(mails * events + 1);
    expect(all.findIndex(({ to }) => to === 'bob@example.org')).toBeLessThan((mails * events) / 2);
  }, 90_000);

  it('do not wait for mails of another account that the mail server does not answer [channels.fair]', async () => {
    const sendToBob = await sendBob(await verified(bob, 'bobs@example.org'));
    const hanging: string[] = [];
    for (const name of ['a', 'b', 'c'])
      hanging.push(await verified(on.ada, ...[1, 2, 3, 4].map((n) => `stall-${name}${n}@example.org`)));
    await event(await keyword(instant(...hanging)));
    // As many as may wait for the mail server at the same time.
    await until('each mail waits', async () => {
      const rows: { count: number }[] = await on.database.query(
        'SELECT count(*)::int AS count FROM pending_deliveries WHERE endpoint = ANY ($1)',
        [hanging.map((id) => `channel:${id}`)],
      );
      return rows[0]?.count === 12;
    });
    await sendToBob();
    await until('it arrives', () =>
      sim.inbox.messages('smtp', 'bobs@example.org').some(({ text }) => text.includes('For Bob')),
    );
    // They end after 10 s.
    expect(await hasEnded(...hanging)).toBe(false);
    for (const id of hanging) await on.ada.api.delete(`/v1/channels/${id}`);
  }, 30_000);

  it('do not wait for a chat of another account that does not answer, nor behind its many messages [channels.fair]', async () => {
    const [hangs, floods] = [await chat('slack', 'hangs00001'), await chat('slack', 'floods0001')];
    sim.faults.add({ source: 'slack', kind: 'hang', times: 0, path: 'hangs00001' });
    const made = await bob.api.post('/v1/channels', {
      ...{ kind: 'slack', name: 'b', config: CONFIGS.slack?.('bobs00002') },
    });
    const sendToBob = await sendBob(made.body.id);
    const ids = await keyword(instant(hangs.id, floods.id));
    await Promise.all(Array.from({ length: 40 }, () => event(ids)));
    const flood = () => sim.inbox.messages('slack', '/services/T1/B1/floods0001').length;
    await until('the flood has begun', () => flood() > 0);
    await sendToBob();
    await messages(1, 'slack', '/services/T1/B1/bobs00002');
    // The rate of a chat leaves most of the flood waiting, and a request without an answer ends after 10 s.
    expect(flood()).toBeLessThan(40);
    expect(await hasEnded(hangs.id)).toBe(false);
    for (const { id } of [hangs, floods]) await on.ada.api.delete(`/v1/channels/${id}`);
  }, 30_000);
});

describe('a digest', () => {
  const item = (n: number, more: Record<string, unknown> = {}) => ({
    mentionId: newId(),
    source: 'reddit',
    kind: 'post',
    url: `https://example.org/${n}`,
    title: `Title ${n} ${HOSTILE}`,
    excerpt: 'Words',
    author: 'ada',
    community: null,
    vip: false,
    labels: [],
    publishedAt: null,
    occurredAt: '2026-03-02T08:00:00.000Z',
    sentiment: 'negative',
    intent: null,
    ...more,
  });
  const figures = (reportId: string, url: string) => ({
    reportId,
    url,
    volume: {
      count: 30,
      previous: 20,
      days: Array.from({ length: 7 }, (_, n) => ({ date: `2026-03-0${n + 1}`, count: n, previous: 2 })),
    },
    sentiment: { positive: 5, neutral: 10, negative: 10, mixed: 0, unread: 5 },
    sources: [
      { source: 'reddit', count: 20 },
      { source: 'x', count: 10 },
    ],
    authors: [{ author: '<b>eve</b>', source: 'reddit', count: 3, vip: true }],
    stories: [{ storyId: 's', title: '<script>alert(1)</script>', url: 'javascript:alert(1)', count: 4 }],
    alerts: [{ at: '2026-03-02T08:00:00.000Z', name: 'spike high', observed: 9, baseline: 1.5 }],
  });

  /** Stores an assembled digest, as analysis does. @returns its id */
  async function assembled(
    keywordId: string,
    channelId: string,
    mode: string,
    more: Partial<Digest> = {},
  ): Promise<string> {
    const digestId = derivedId('digest', newId());
    const url =
      mode === 'weekly_report' ? `${on.service.url}/reports/${randomBytes(24).toString('base64url')}` : '';
    const week = [Date.now() - 7 * 86_400_000, Date.now()].map((at) => new Date(at).toISOString());
    const period = { from: week[0]!, to: week[1]! };
    const digest = {
      id: digestId,
      mode,
      channelId,
      keyword: { id: keywordId, name: 'Acme' },
      period,
      timezone: 'Europe/Berlin',
      total: 60,
      more: 10,
      priority: [item(1, { vip: true })],
      groups: [
        { bucket: { key: 'b', label: 'Battery' }, stories: [{ storyId: 's', items: [item(2), item(3)] }] },
        {
          bucket: null,
          stories: Array.from({ length: 47 }, (_, n) => ({ storyId: null, items: [item(n + 4)] })),
        },
      ],
      summary:
        mode === 'daily_brief'
          ? { sentences: [{ text: 'People complain.', mentionIds: [] }], reader: 'local' }
          : null,
      report: mode === 'weekly_report' ? figures(digestId, url) : null,
      ...more,
    };
    const fact = create(DigestAssembledSchema, {
      digestId,
      accountId: on.ada.accountId,
      keywordId,
      channelId,
      mode,
      assembledAt: new Date().toISOString(),
      periodFrom: period.from,
      periodTo: period.to,
      body: Buffer.from(JSON.stringify(digest)),
      reportUrl: url,
    });
    const subject = subjectOf('DIGESTS', on.ada.accountId, keywordId, channelId, mode);
    await on.store.publish(subject, toBinary(DigestAssembledSchema, fact), digestId);
    return digestId;
  }

  it.each(['slack', 'discord', 'teams', 'telegram'])(
    'to %s fits its limits, counts what is left out, and arrives once [channels.digests]',
    async (kind) => {
      const made = await chat(kind);
      const ids = await keyword({ channels: [{ channel_id: made.id, mode: 'daily_brief' }] });
      const first = await assembled(ids.keywordId, made.id, 'daily_brief');
      await messages(1, kind);
      await assembled(ids.keywordId, made.id, 'daily_brief');
      const [message] = await messages(2, kind);
      expect([message?.fault, message?.pings, message?.status && message.status < 300]).toEqual([
        undefined,
        [],
        true,
      ]);
      expect(message?.text).toMatch(/People complain\.[\s\S]*VIPs[\s\S]*Battery[\s\S]*and \d+ more/);
      expect(sim.inbox.messages(kind).length).toBe(2);
      const sent = (await on.attempts()).filter((one) => one.eventId === first);
      expect(sent).toMatchObject([{ targetKind: 'digest', channelId: made.id, delivered: true }]);
    },
  );

  it('to a channel of the kind webhook is its JSON, signed, and is found among the deliveries by its target [channels.digests, deliveries.list]', async () => {
    on.receiver.received.length = 0;
    const made = await channel('webhook', { url: `${on.receiver.url}/digests` });
    const ids = await keyword({ channels: [{ channel_id: made.id, mode: 'daily' }] });
    const id = await assembled(ids.keywordId, made.id, 'daily');
    const [first] = await until('it arrives', () => on.receiver.received.length > 0 && on.receiver.received);
    expect([first?.headers['webhook-id'], JSON.parse(String(first?.body)).total]).toEqual([id, 60]);
    const found = async (query: string) =>
      (await on.ada.api.all(`/v1/deliveries?keyword=${ids.keywordId}&${query}`)).map(
        ({ target }) => target as Json,
      );
    const digests = await until('the digest is listed', async () => {
      const listed = await found('target=digest');
      return listed.length > 0 && listed;
    });
    expect(digests).toMatchObject([{ kind: 'digest' }]);
    expect(await found(`target=${made.id}`)).toEqual(digests);
    for (const other of ['webhook', 'channel', newId()]) expect(await found(`target=${other}`)).toEqual([]);
    expect((await on.ada.api.get('/v1/deliveries?target=pigeon')).status).toBe(400);
  });

  it('of a week is a mail with charts as PNG, a page at a signed address with charts as SVG, and readable by the API [reports.mail, reports.page, reports.api]', async () => {
    const made = await channel('email', { to: ['week@example.org'] });
    const [asked] = await messages(1, 'smtp', 'week@example.org');
    await browse(linkIn(mailIn(asked), 'verify'), { method: 'POST' });
    const ids = await keyword({ channels: [{ channel_id: made.id, mode: 'weekly_report' }] });
    const id = await assembled(ids.keywordId, made.id, 'weekly_report');
    const [, message] = await messages(2, 'smtp', 'week@example.org');
    const mail = mailIn(message);
    expect([message?.fault, mail.subject]).toEqual([undefined, 'Acme: weekly report, 60 mentions']);
    expect(mail.attachments.map(({ mimeType }) => mimeType)).toEqual(['image/png', 'image/png']);
    expect([...mail.html.matchAll(/<img src="cid:([^"]+)"/g)].map(([, cid]) => `<${cid}>`)).toEqual(
      mail.attachments.map(({ contentId }) => contentId),
    );
    expect(mail.html).not.toContain('<svg');
    expect(mail.text).toContain('+50 % against the week before (20)');
    expect(mail.text).toContain('Sources: Reddit 20 (67 %), X 10 (33 %)');
    expect(mail.html).not.toMatch(/<script|javascript:|<b>eve/);

    const listed = await until('it is listed', async () => {
      const { body } = await on.ada.api.get(`/v1/reports?keyword=${ids.keywordId}`);
      return body.data.length > 0 && body.data;
    });
    expect(listed).toMatchObject([{ id, keywordId: ids.keywordId, channelId: made.id }]);
    const { body } = await on.ada.api.get(`/v1/reports/${id}`);
    expect(body).toMatchObject({ id, volume: { count: 30, previous: 20 }, authors: [{ vip: true }] });
    expect((await bob.api.get(`/v1/reports/${id}`)).status).toBe(404);
    // The gateway under test does not know its own address.
    const signed = `${on.service.url}${new URL(body.url).pathname}`;
    const page = await browse(signed);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('<svg')]);
    expect(page.text).toContain('<td>x</td><td>10</td><td>33 %</td>');
    expect(page.text).not.toMatch(/<script|href="javascript|<b>eve/);
    const [unsigned = ''] = /http\S+\/reports\/[\w-]{32}(?![\w-])/.exec(mail.text ?? '') ?? [];
    const statuses = async () =>
      Promise.all(
        [
          signed,
          unsigned,
          signed.replace(/.$/, (last: string) => (last === 'A' ? 'B' : 'A')),
          signed.replace(/[^/]+$/, randomBytes(70).toString('base64url')),
        ].map(async (url) => (await browse(url)).status),
      );
    // The mail has an address of the kind before addresses were signed.
    expect(await statuses()).toEqual([200, 200, 404, 404]);
    await on.ada.api.delete(`/v1/keywords/${ids.keywordId}?purge=true`);
    expect(await statuses()).toEqual([404, 404, 404, 404]);
  });
});
