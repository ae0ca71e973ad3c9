import { createHmac } from 'node:crypto';
import { newId } from '#kernel';
import { newSigningSecret, SecretBox } from '#secrets';
import { savePending } from './attempts/pending-deliveries.js';
import type { RunningService } from '#platform';
import { until } from '#testing';
import { endpointTasks } from './testing/endpoint-tasks.js';
import {
  receivedRequests,
  openDelivery,
  startReceiver,
  type DeliveryUnderTest,
  type Receiver,
} from './testing/delivery-under-test.js';

let delivery: DeliveryUnderTest;
let receiver: Receiver;
let service: RunningService;

beforeAll(async () => {
  delivery = await openDelivery();
  receiver = await startReceiver();
  service = await delivery.start();
});
afterAll(async () => {
  // The receiver is closed first, because this ends the requests that hang at the receiver.
  await receiver?.close();
  await service?.stop();
  await delivery?.drop();
});

endpointTasks(() => ({ delivery, receiver }));

describe('a delivery', () => {
  it('sends the stored bytes only once, with a signature made at that moment, and records the attempt [limits.signature]', async () => {
    const watchId = await delivery.watch(`${receiver.url}/well`);
    const { eventId, bytes } = await delivery.event(watchId);
    const [request] = await receivedRequests(receiver, '/well', 1);
    expect(request?.body.equals(bytes)).toBe(true);
    const { 'x-signature': signature = '', 'webhook-id': id, 'content-type': type } = request?.headers ?? {};
    expect([id, type]).toEqual([eventId, 'application/json']);
    const [, t = '', v1] = /^t=(\d+),v1=(.+)$/.exec(String(signature)) ?? [];
    expect(v1).toBe(createHmac('sha256', delivery.secret).update(`${t}.`).update(bytes).digest('hex'));
    expect(Math.abs(Date.now() / 1000 - Number(t))).toBeLessThan(30);
    const [record] = await delivery.attempts(eventId, 1);
    expect(record).toMatchObject({
      delivered: true,
      number: 1,
      statusCode: 200,
      message: '',
      watchId,
      accountId: delivery.accountId,
    });
    expect(await delivery.pending(eventId)).toBeUndefined();
    expect(receiver.received.filter(({ path }) => path === '/well').length).toBe(1);
  });

  it('is not made for an event that must not be pushed, or for a watch that does not exist', async () => {
    const watchId = await delivery.watch(`${receiver.url}/quiet`);
    await delivery.event(watchId, false);
    await delivery.event(newId());
    const { eventId } = await delivery.event(watchId);
    const requests = await receivedRequests(receiver, '/quiet', 1);
    expect(requests.map(({ headers }) => headers['webhook-id'])).toEqual([eventId]);
  });

  it('is made only for events that a rule sends, pushed or not, if the webhookMode is rules [rules.webhook]', async () => {
    const watchId = await delivery.watch(`${receiver.url}/ruled`, 'rules');
    await delivery.event(watchId);
    const { eventId: sent } = await delivery.event(watchId, true, true);
    const { eventId: stopped } = await delivery.event(watchId, false, true);
    const requests = await receivedRequests(receiver, '/ruled', 2);
    // Two deliveries to one address run at the same time.
    expect(requests.map(({ headers }) => headers['webhook-id']).sort()).toEqual([sent, stopped].sort());
  });

  it('is not made for a deleted watch', async () => {
    const watchId = await delivery.watch(`${receiver.url}/deleted`);
    await delivery.database.query('UPDATE watches SET retired_at = now() WHERE watch_id = $1', [watchId]);
    await delivery.event(watchId);
    await delivery.event(await delivery.watch(`${receiver.url}/after-deleted`));
    await receivedRequests(receiver, '/after-deleted', 1);
    expect(receiver.received.some(({ path }) => path === '/deleted')).toBe(false);
  });

  it('is retried after 30 s, then after 120 s, with the same bytes each time [limits.retries, states.attempt-retried]', async () => {
    receiver.answers.set('/shaky', { status: 500 });
    const { eventId, bytes } = await delivery.event(await delivery.watch(`${receiver.url}/shaky`));
    const first = await delivery.waiting(eventId, 1);
    expect(first.dueInMs).toBeGreaterThan(25_000);
    expect(first.dueInMs).toBeLessThanOrEqual(30_000);
    await delivery.makeDue();
    const second = await delivery.waiting(eventId, 2);
    expect(second.dueInMs).toBeGreaterThan(115_000);
    expect(second.dueInMs).toBeLessThanOrEqual(120_000);
    receiver.answers.delete('/shaky');
    await delivery.makeDue();
    await until('the event is delivered', async () => (await delivery.pending(eventId)) === undefined);
    const requests = await receivedRequests(receiver, '/shaky', 3);
    expect(requests.every(({ body }) => body.equals(bytes))).toBe(true);
    const records = await delivery.attempts(eventId, 3);
    expect(records.map(({ delivered, statusCode }) => [delivered, statusCode])).toEqual([
      [false, 500],
      [false, 500],
      [true, 200],
    ]);
    expect(records[0]?.message).toBe('the endpoint answered 500');
    expect(records.map(({ nextAttemptAt }) => nextAttemptAt !== '')).toEqual([true, true, false]);
  });

  it('does not follow a redirect', async () => {
    receiver.answers.set('/moved', { status: 302, headers: { location: `${receiver.url}/elsewhere` } });
    const { eventId } = await delivery.event(await delivery.watch(`${receiver.url}/moved`));
    const [record] = await delivery.attempts(eventId, 1);
    expect(record).toMatchObject({ delivered: false, statusCode: 302 });
    expect(record?.message).toContain('the endpoint answered 302; redirects are not followed');
    expect(receiver.received.some(({ path }) => path === '/elsewhere')).toBe(false);
  });

  it('has one signature for each secret while the previous secret is valid [events.two-signatures]', async () => {
    const previous = newSigningSecret();
    const sealed = new SecretBox('5e'.repeat(32)).seal(previous);
    const validUntil = (interval: string) =>
      delivery.database.query(
        `UPDATE accounts SET previous_signing_secret_encrypted = $2,
           previous_signing_secret_valid_until = now() + $3::interval WHERE account_id = $1`,
        [delivery.accountId, sealed, interval],
      );
    const signaturesOf = async (path: string) => {
      const { bytes } = await delivery.event(await delivery.watch(`${receiver.url}${path}`));
      const [request] = await receivedRequests(receiver, path, 1);
      const [t = '', ...parts] = String(request?.headers['x-signature']).split(',');
      const of = (secret: string) =>
        `v1=${createHmac('sha256', secret)
          .update(`${t.slice(2)}.`)
          .update(bytes)
          .digest('hex')}`;
      const standard = String(request?.headers['webhook-signature']).split(' ').length;
      return { parts, ofPresent: of(delivery.secret), ofPrevious: of(previous), standard };
    };
    await validUntil('1 hour');
    const during = await signaturesOf('/rotated');
    expect(during.parts).toEqual([during.ofPresent, during.ofPrevious]);
    expect(during.standard).toBe(2);
    await validUntil('-1 second');
    const after = await signaturesOf('/rotated-long-ago');
    expect(after.parts).toEqual([after.ofPresent]);
    expect(after.standard).toBe(1);
  });

  it('is signed with the plain hex HMAC of its body if the account uses the legacy form [events.legacy-signature]', async () => {
    const version = (name: string) =>
      delivery.database.query('UPDATE accounts SET signature_version = $2 WHERE account_id = $1', [
        delivery.accountId,
        name,
      ]);
    await version('legacy');
    const { bytes } = await delivery.event(await delivery.watch(`${receiver.url}/legacy`));
    const [request] = await receivedRequests(receiver, '/legacy', 1);
    await version('v1');
    const expected = createHmac('sha256', delivery.secret).update(bytes).digest('hex');
    expect(request?.headers['x-signature']).toBe(expected);
  });

  it('has separate attempts and retries for each target if one event has two targets', async () => {
    receiver.answers.set('/one-target', { status: 500 });
    receiver.answers.set('/other-target', { status: 503 });
    const watchId = await delivery.watch(`${receiver.url}/one-target`);
    const { eventId, bytes } = await delivery.event(watchId);
    await delivery.waiting(eventId, 1);
    const resendId = newId();
    await savePending(delivery.database.manager, [
      {
        eventId,
        target: { kind: 'resend', id: resendId },
        accountId: delivery.accountId,
        watchId,
        keywordId: '',
        source: 'rss',
        endpoint: `${receiver.url}/other-target`,
        body: bytes,
        attempts: 0,
        firstAt: Date.now(),
        pending: true,
      },
    ]);
    await receivedRequests(receiver, '/other-target', 1);
    receiver.answers.delete('/other-target');
    await until('both wait', async () => (await delivery.attempts(eventId, 2)).length === 2);
    await until('each has one attempt', async () => {
      const rows: { target_kind: string; attempts: number }[] = await delivery.database.query(
        'SELECT target_kind, attempts FROM pending_deliveries WHERE event_id = $1 ORDER BY 1',
        [eventId],
      );
      return (
        JSON.stringify(rows.map((row) => [row.target_kind, row.attempts])) === '[["resend",1],["webhook",1]]'
      );
    });
    await delivery.database.query(
      `UPDATE pending_deliveries SET due_at = now() - interval '1 second' WHERE event_id = $1 AND target_kind = 'resend'`,
      [eventId],
    );
    const records = await delivery.attempts(eventId, 3);
    expect(records.map(({ targetKind, number, delivered }) => [targetKind, number, delivered])).toEqual([
      ['webhook', 1, false],
      ['resend', 1, false],
      ['resend', 2, true],
    ]);
    expect(records[1]?.targetId).toBe(resendId);
    await until('only the webhook waits', async () => (await delivery.pending(eventId))?.attempts === 1);
    expect(receiver.received.filter(({ path }) => path === '/one-target').length).toBe(1);
  });

  it('does not delay other deliveries if its endpoint hangs', async () => {
    receiver.answers.set('/hangs', { status: 0 });
    const hanging = await delivery.watch(`${receiver.url}/hangs`);
    await Promise.all(Array.from({ length: 60 }, () => delivery.event(hanging)));
    await receivedRequests(receiver, '/hangs', 1);
    const began = Date.now();
    const { eventId } = await delivery.event(await delivery.watch(`${receiver.url}/beside`));
    await receivedRequests(receiver, '/beside', 1);
    expect(Date.now() - began).toBeLessThan(2500);
    await delivery.attempts(eventId, 1);
    expect(receiver.received.filter(({ path }) => path === '/hangs').length).toBeLessThanOrEqual(16);
    await delivery.database.query('DELETE FROM watches WHERE watch_id = $1', [hanging]);
  });

  it('stays claimed while its request runs, however long the request takes', async () => {
    receiver.answers.set('/long', { status: 0 });
    const { eventId } = await delivery.event(await delivery.watch(`${receiver.url}/long`));
    await until('the delivery has a row', () => delivery.pending(eventId));
    await delivery.database.query(
      `UPDATE pending_deliveries SET due_at = now() + interval '12 seconds' WHERE event_id = $1`,
      [eventId],
    );
    const extended = await until('the claim is extended, or the attempt has ended', async () => {
      const { attempts, dueInMs } = (await delivery.pending(eventId))!;
      return dueInMs > 15_000 && { inTime: attempts === 0 };
    });
    expect(extended).toEqual({ inTime: true });
    expect(receiver.received.filter(({ path }) => path === '/long').length).toBe(1);
  });
});
