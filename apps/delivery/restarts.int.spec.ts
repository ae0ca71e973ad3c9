import { randomUUID } from 'node:crypto';
import { endpointIdOf } from '#kernel';
import { SecretBox } from '#secrets';
import { createLogger } from '#telemetry';
import { until } from '#testing';
import { resolveClaims } from './attempts/claims.js';
import { AttemptRecorder } from './attempts/attempt-recorder.js';
import { claimPending, type ClaimLimits } from './attempts/claim-pending.js';
import {
  crowdedAddresses,
  returnPending,
  savePending,
  type ClaimedDelivery,
} from './attempts/pending-deliveries.js';
import type { ChannelKind } from './channels/channel.js';
import { Targets } from './attempts/targets.js';
import { waitingTimes } from './attempts/waiting-times.js';
import {
  receivedRequests,
  openDelivery,
  startReceiver,
  type DeliveryUnderTest,
  type Receiver,
} from './testing/delivery-under-test.js';

let delivery: DeliveryUnderTest;
let receiver: Receiver;

beforeAll(async () => {
  delivery = await openDelivery();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver?.close();
  await delivery?.drop();
});

describe('the delivery service', () => {
  it('makes the next attempt of a waiting delivery after a restart', async () => {
    receiver.answers.set('/late', { status: 500 });
    const watchId = await delivery.watch(`${receiver.url}/late`);
    const first = await delivery.start();
    const { eventId } = await delivery.event(watchId);
    await until(
      'the first attempt was recorded',
      async () => (await delivery.pending(eventId))?.attempts === 1,
    );
    await first.stop();
    receiver.answers.delete('/late');
    await delivery.makeDue();
    const second = await delivery.start();
    await until('the event is delivered', async () => (await delivery.pending(eventId)) === undefined);
    const requests = await receivedRequests(receiver, '/late', 2);
    expect(requests.map(({ headers }) => headers['webhook-id'])).toEqual([eventId, eventId]);
    await second.stop();
    expect(receiver.received.filter(({ path }) => path === '/late').length).toBe(2);
  });

  it('delivers an event that was appended while no process ran', async () => {
    const { eventId } = await delivery.event(await delivery.watch(`${receiver.url}/meanwhile`));
    const service = await delivery.start();
    expect((await receivedRequests(receiver, '/meanwhile', 1))[0]?.headers['webhook-id']).toBe(eventId);
    await service.stop();
  });

  it('delivers an event whose first attempt was interrupted by a shutdown', async () => {
    receiver.answers.set('/cut', { status: 0 });
    const { eventId } = await delivery.event(await delivery.watch(`${receiver.url}/cut`));
    const first = await delivery.start();
    await receivedRequests(receiver, '/cut', 1);
    await first.stop(1);
    receiver.answers.delete('/cut');
    const second = await delivery.start();
    await delivery.makeDue();
    const [, again] = await receivedRequests(receiver, '/cut', 2);
    expect(again?.headers['webhook-id']).toBe(eventId);
    await second.stop();
  });

  it('delivers each event only once while two processes run', async () => {
    const watchId = await delivery.watch(`${receiver.url}/shared`);
    const services = [await delivery.start(), await delivery.start()];
    const events = await Promise.all(Array.from({ length: 50 }, () => delivery.event(watchId)));
    await receivedRequests(receiver, '/shared', 50);
    for (const service of services) await service.stop();
    const ids = receiver.received
      .filter(({ path }) => path === '/shared')
      .map(({ headers }) => headers['webhook-id']);
    expect(ids.sort()).toEqual(events.map(({ eventId }) => eventId).sort());
  });

  it('sends no request to a private address, and records the same error as for an unknown host name', async () => {
    const service = await delivery.start({ EGRESS_ALLOW: '' });
    const { port } = new URL(receiver.url);
    const reasonOf = async (name: string) => {
      const { eventId } = await delivery.event(await delivery.watch(`http://${name}:${port}/inside`));
      const [record] = await until('the attempt is recorded', async () => {
        const rows = await delivery.attemptsOf(eventId);
        return rows.length > 0 && rows;
      });
      expect(record).toMatchObject({ delivered: false, statusCode: 0 });
      const [host, ...reason] = record?.message.split(': ') ?? [];
      expect([host, host?.replace(/:\d+$/, '')]).toContain(name);
      return reason;
    };
    const literal = await reasonOf('127.0.0.1');
    expect(literal[0]).toBe('address not allowed');
    expect(await reasonOf('inside.localhost')).toEqual(literal);
    expect(await reasonOf('no-such-name.invalid')).toEqual(literal);
    expect(receiver.received.some(({ path }) => path === '/inside')).toBe(false);
    await service.stop();
  });
});

const LIMITS = { byMail: false, perEndpoint: 4, max: 100 };

describe('waiting deliveries', () => {
  const targets = () => new Targets(delivery.database, new SecretBox('5e'.repeat(32)));

  async function wait(endpoint: string, count: number, channelKind?: ChannelKind): Promise<void> {
    const watchId = await delivery.watch(endpoint);
    await savePending(
      delivery.database.manager,
      Array.from({ length: count }, (_, n) => ({
        eventId: randomUUID(),
        target: { kind: 'webhook' as const, id: endpointIdOf(delivery.accountId, endpoint) },
        accountId: delivery.accountId,
        watchId,
        keywordId: '',
        source: 'rss',
        endpoint,
        channelKind,
        body: Buffer.from('{}'),
        attempts: 1,
        firstAt: Date.now(),
        pending: true,
        waitMs: -10_000 + n,
      })),
    );
  }

  it('are claimed fairly: at most the permitted number for each endpoint, and no delivery twice', async () => {
    await delivery.database.query('DELETE FROM pending_deliveries');
    await wait('http://busy.example.org/', 50);
    await wait('http://calm.example.org/', 2);
    await wait('http://other.example.org/', 5);
    const claims = await Promise.all([
      claimPending(delivery.database, LIMITS),
      claimPending(delivery.database, LIMITS),
    ]);
    const ids = claims.flat().map(({ eventId }) => eventId);
    expect(new Set(ids).size).toBe(ids.length);
    const count = (endpoint: string) => claims.flat().filter((one) => one.endpoint === endpoint).length;
    expect(count('http://calm.example.org/')).toBe(2);
    expect(count('http://busy.example.org/')).toBeLessThanOrEqual(8);
    expect(count('http://busy.example.org/')).toBeGreaterThanOrEqual(4);
    expect(count('http://other.example.org/')).toBeGreaterThanOrEqual(4);
  });

  it('are claimed in parts, each of which begins where the previous part ended, and mails are claimed separately', async () => {
    await delivery.database.query('DELETE FROM pending_deliveries');
    const urls = ['http://a.example.org/', 'http://b.example.org/', 'http://c.example.org/'];
    for (const url of urls) await wait(url, 2);
    await wait('channel:mail', 1, 'email');
    const part = (limits: Partial<ClaimLimits>) => claimPending(delivery.database, { ...LIMITS, ...limits });
    const first = await part({ max: 3 });
    const second = await part({ max: 3, after: first.at(-1) });
    const places = (claimed: readonly ClaimedDelivery[]) =>
      claimed.map(({ endpoint }) => urls.indexOf(endpoint));
    // If a part ends in the middle of an endpoint, the next pass claims the rest of that endpoint.
    expect([places(first), places(second), places(await part({}))]).toEqual([[0, 0, 1], [2, 2], [1]]);
    expect((await part({ byMail: true })).map(({ endpoint }) => endpoint)).toEqual(['channel:mail']);
  });

  it('are claimed only when due, by one process at a time, and can be claimed immediately after they were given back', async () => {
    await delivery.database.query('DELETE FROM pending_deliveries');
    await wait('http://one.example.org/', 1);
    await delivery.database.query(`UPDATE pending_deliveries SET due_at = now() + interval '1 minute'`);
    expect(await claimPending(delivery.database, LIMITS)).toEqual([]);
    await delivery.makeDue();
    const [claimed] = await claimPending(delivery.database, LIMITS);
    expect(claimed).toMatchObject({
      endpoint: 'http://one.example.org/',
      attempts: 1,
      pending: true,
    });
    expect(await claimPending(delivery.database, LIMITS)).toEqual([]);
    await returnPending(delivery.database, claimed ? [claimed] : [], 0);
    expect((await claimPending(delivery.database, LIMITS)).length).toBe(1);
  });

  it('are not claimed by any replica while their endpoint has asked the sender to wait', async () => {
    await delivery.database.query('DELETE FROM pending_deliveries');
    await wait('http://paused.example.org/', 2);
    const pause = (interval: string) =>
      delivery.database.query(
        `INSERT INTO webhook_endpoints (account_id, endpoint, paused_until) VALUES ($1, 'http://paused.example.org/', now() + $2::interval)
         ON CONFLICT (account_id, endpoint) DO UPDATE SET paused_until = EXCLUDED.paused_until`,
        [delivery.accountId, interval],
      );
    await pause('1 minute');
    expect(await claimPending(delivery.database, LIMITS)).toEqual([]);
    await pause('-1 second');
    expect(await claimPending(delivery.database, LIMITS)).toHaveLength(2);
  });

  it('count as late from their creation if no attempt was made, otherwise from their due time', async () => {
    await delivery.database.query('DELETE FROM pending_deliveries');
    expect(await waitingTimes(delivery.database)).toEqual({ oldest: null, late: null });
    await wait('http://late.example.org/', 1);
    const set = (firstAt: string, dueAt: string) =>
      delivery.database.query(
        'UPDATE pending_deliveries SET first_at = now() + $1::interval, due_at = now() + $2::interval',
        [firstAt, dueAt],
      );
    await set('-3 hours', '1 hour');
    const { oldest, late } = await waitingTimes(delivery.database);
    expect([Math.round(oldest! / 60), late]).toEqual([180, null]);
    await delivery.database.query('UPDATE pending_deliveries SET attempts = 0');
    await set('-20 minutes', '20 seconds');
    expect(Math.round((await waitingTimes(delivery.database)).late! / 60)).toBe(20);
    await delivery.database.query('UPDATE pending_deliveries SET attempts = 1');
    await set('-3 hours', '-10 minutes');
    expect(Math.round((await waitingTimes(delivery.database)).late! / 60)).toBe(10);
    await delivery.database.query(
      `INSERT INTO webhook_endpoints (account_id, endpoint, paused_until) VALUES ($1, 'http://late.example.org/', now() + interval '1 minute')`,
      [delivery.accountId],
    );
    expect((await waitingTimes(delivery.database)).late).toBeNull();
  });

  it('delay later messages of their channel until their first attempt, but not after a failed attempt', async () => {
    await delivery.database.query('DELETE FROM pending_deliveries');
    await wait('channel:busy', 3, 'slack');
    const address = { accountId: delivery.accountId, endpoint: 'channel:busy' };
    const crowded = async () =>
      (await crowdedAddresses(delivery.database, [address, { ...address, endpoint: 'channel:calm' }])).size;
    expect(await crowded()).toBe(0);
    await delivery.database.query(
      'UPDATE pending_deliveries SET attempts = 0 WHERE ctid = (SELECT ctid FROM pending_deliveries LIMIT 1)',
    );
    expect(await crowded()).toBe(1);
  });

  it.each([
    ['changed', [{ attempts: 2, due: true }]],
    ['not-disabled', []],
  ] as const)(
    'are dropped if their destination is gone, unless their channel has a new destination (outcome `%s`)',
    async (outcome, left) => {
      await delivery.database.query('DELETE FROM pending_deliveries');
      await wait('channel:gone', 1, 'slack');
      const [claimed] = await claimPending(delivery.database, LIMITS);
      const faults = { gone: async () => outcome, failing: async () => false };
      const recorder = new AttemptRecorder(
        ...([delivery.database, delivery.store, faults, createLogger('spec', 'silent')] as const),
      );
      const one = { ...claimed!, signing: { secrets: [], legacy: false }, failingSince: undefined };
      const attempt = { at: Date.now(), durationMs: 1, statusCode: 404, delivered: false, message: 'gone' };
      await recorder.record([{ delivery: one, ...attempt, gone: 'gone' }]);
      const rows = await delivery.database.query(
        'SELECT attempts, due_at <= now() AS due FROM pending_deliveries',
      );
      expect(rows).toEqual(left);
    },
  );

  const claim = async () =>
    resolveClaims(delivery.database, targets(), await claimPending(delivery.database, LIMITS));

  it('are signed with the secret of their account', async () => {
    await delivery.database.query('DELETE FROM pending_deliveries');
    await wait('http://signed.example.org/', 1);
    const { ready } = await claim();
    expect(ready.map(({ signing }) => signing)).toEqual([{ secrets: [delivery.secret], legacy: false }]);
  });

  it('are sent to the new address of their watch, and are dropped if the watch has no address any more', async () => {
    await delivery.database.query('DELETE FROM pending_deliveries');
    await wait('http://old.example.org/', 1);
    await delivery.database.query(
      `UPDATE watches SET webhook_url = 'http://new.example.org/' WHERE webhook_url = 'http://old.example.org/'`,
    );
    const { ready, moved, givenUp } = await claim();
    expect(ready).toEqual([]);
    expect(moved).toMatchObject([
      {
        endpoint: 'http://new.example.org/',
        target: { kind: 'webhook', id: endpointIdOf(delivery.accountId, 'http://new.example.org/') },
        attempts: 0,
      },
    ]);
    expect(givenUp.map(({ endpoint, reason }) => [endpoint, reason])).toEqual([
      [
        'http://old.example.org/',
        'not sent: the webhook URL was changed, and the event is sent to the new URL',
      ],
    ]);
    await delivery.makeDue();
    await delivery.database.query(
      `UPDATE watches SET webhook_url = NULL WHERE webhook_url = 'http://new.example.org/'`,
    );
    expect((await claim()).givenUp.map(({ reason }) => reason)).toEqual([
      'not sent: the watch or keyword has no webhook any more',
    ]);
  });
});
