import { fromBinary } from '@bufbuild/protobuf';
import { createHmac } from 'node:crypto';
import { PushedEventSchema } from '#contracts';
import { subjectOf } from '#messaging';
import { until, type Json } from '#testing';
import { receivedRequests } from '../../apps/delivery/testing/delivery-under-test.js';
import { type DeliveriesUnderTest } from './deliveries-under-test.js';

/** Tests of endpoints: the list, why an endpoint is disabled, and the test of a webhook. */
export function endpointTasks(setup: () => DeliveriesUnderTest, url: (path: string) => string): void {
  describe('an endpoint', () => {
    const endpoint = async (path: string): Promise<Json> =>
      (await setup().ada.api.all('/v1/endpoints?limit=2')).find((one) => one.url === url(path));

    it('shows why Earshot has disabled it and which keywords use it, and can be enabled [endpoints.list, endpoints.enable, events.channel-disabled]', async () => {
      const subscribed = { webhook_events: ['channel.disabled'] };
      const first = await setup().keyword('/dead', subscribed);
      const second = await setup().keyword('/dead', {
        global_criteria: { market: 'global', query: 'other' },
      });
      const lone = await setup().ada.api.post('/v1/hackernews/watches', {
        criteria: { query: 'lone' },
        refresh_interval_seconds: 600,
        webhook_url: url('/dead'),
      });
      expect(await endpoint('/dead')).toMatchObject({ state: 'healthy', failures: 0, failingSince: null });
      setup().receiver.answers.set('/dead', { status: 503 });
      await setup().events(first, 1);
      const failing = await until('it fails', async () => {
        const one = await endpoint('/dead');
        return one.state === 'failing' && one;
      });
      expect(failing).toMatchObject({
        failures: 1,
        lastStatusCode: 503,
        waiting: 1,
        keywordIds: [first.keywordId, second.keywordId].sort(),
        watchIds: [lone.body.id],
      });
      setup().receiver.answers.set('/dead', { status: 410 });
      await setup().events(first, 1);
      const disabled = await until('it is disabled', async () => {
        const one = await endpoint('/dead');
        return one.state === 'disabled' && one;
      });
      expect(disabled).toMatchObject({
        disabledReason: 'the endpoint answered 410 Gone',
        lastStatusCode: 410,
        waiting: 0,
      });

      for (const { keywordId } of [first, second]) {
        const envelope = await until('the event is stored', async () => {
          const stored = await setup().store.read(
            'EVENTS',
            subjectOf('EVENTS', setup().ada.accountId, keywordId),
          );
          const event = stored[0] && fromBinary(PushedEventSchema, stored[0].data);
          return event && (JSON.parse(Buffer.from(event.envelope).toString()) as Json);
        });
        expect(envelope).toMatchObject({
          type: 'channel.disabled',
          watchId: null,
          keywordId,
          item: null,
          data: {
            channelId: null,
            kind: 'webhook',
            url: url('/dead'),
            reason: 'the endpoint answered 410 Gone',
            failures: 2,
            lastStatusCode: 410,
          },
        });
        const line = await until('the disabled endpoint is in the activity', async () => {
          const { body } = await setup().ada.api.get(`/v1/keywords/${keywordId}/activity`);
          return body.activity.find(
            // Delivery also gives up this event at the disabled endpoint. That record has no status code.
            (one: Json) => one.eventId === envelope.id && one.statusCode === 410,
          );
        });
        expect(line).toMatchObject({ type: 'webhook.failed', statusCode: 410, watchId: null });
      }

      setup().receiver.answers.clear();
      const [unsent] = await setup().events(first, 1);
      const given = await until('new events are given up with a record', async () => {
        const { body } = await setup().ada.api.get(
          `/v1/deliveries?keyword=${first.keywordId}&state=given_up`,
        );
        return body.data.find(({ eventId }: Json) => eventId === unsent?.id);
      });
      expect(given.attempts).toMatchObject([{ number: 0, delivered: false }]);
      const requestsBefore = setup().receiver.received.filter(({ path }) => path === '/dead').length;
      const enabled = await setup().ada.api.post('/v1/endpoints/enable', { url: url('/dead') });
      expect([enabled.status, enabled.body.state]).toEqual([200, 'healthy']);
      const [sent] = await setup().events(first, 1);
      const requests = await receivedRequests(setup().receiver, '/dead', requestsBefore + 1);
      expect(requests.at(-1)?.headers['webhook-id']).toBe(sent?.id);
    });

    it('counts a delivery as waiting while its first attempt has no result [endpoints.list]', async () => {
      const silent = await setup().keyword('/silent');
      setup().receiver.answers.set('/silent', { status: 0 });
      await setup().events(silent, 1);
      const waiting = await until('the delivery waits', async () => {
        const one = await endpoint('/silent');
        return one.waiting === 1 && one;
      });
      expect(waiting).toMatchObject({ state: 'healthy', failures: 0 });
    });

    it('cannot be seen or enabled by another account', async () => {
      const eve = await setup().service.tenant();
      expect((await eve.api.post('/v1/endpoints/enable', { url: url('/dead') })).status).toBe(404);
      expect((await setup().ada.api.post('/v1/endpoints/enable', {})).body.details[0].path).toBe('url');
      expect((await eve.api.get('/v1/endpoints')).body).toEqual({ data: [] });
    });
  });

  describe('the test of a webhook', () => {
    const test = (body: unknown) => setup().ada.api.post('/v1/webhooks/test', body);

    it('returns the sent request and the answer of the receiver, even if the delivery fails [webhooks.test]', async () => {
      const { status, body } = await test({ url: url('/tested'), type: 'tweet.created' });
      const [request] = await receivedRequests(setup().receiver, '/tested', 1);
      expect(status).toBe(200);
      expect(body).toMatchObject({ delivered: true, statusCode: 200 });
      expect(request?.body.toString()).toBe(body.requestBody);
      for (const [name, value] of Object.entries(body.requestHeaders))
        expect([name, request?.headers[name]]).toEqual([name, value]);
      expect(JSON.parse(body.requestBody)).toMatchObject({
        type: 'tweet.created',
        tweet: { source: 'x' },
        post: null,
      });
      expect(body.requestHeaders['x-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
      setup().receiver.answers.set('/teapot', { status: 418 });
      expect((await test({ url: url('/teapot') })).body).toMatchObject({
        delivered: false,
        statusCode: 418,
        message: 'the endpoint answered 418',
      });
      expect((await test({ url: 'http://127.0.0.1:9/' })).body).toMatchObject({
        delivered: false,
        statusCode: null,
      });
    });

    it('refuses private addresses and unknown types, and more than 20 tests in a minute [webhooks.test]', async () => {
      for (const address of ['http://10.1.2.3/', 'http://[::1]/', 'http://0x0a000001/', 'ftp://example.org/'])
        expect((await test({ url: address })).body.details.map(({ path }: Json) => path)).toEqual(['url']);
      expect((await test({ url: url('/x'), type: 'x' })).body.details[0].path).toBe('type');
      const many = await setup().service.tenant();
      const answers = await Promise.all(
        Array.from({ length: 45 }, () => many.api.post('/v1/webhooks/test', { url: url('/cannon') })),
      );
      const refused = answers.filter((answer) => answer.status === 429);
      // A new minute, with a new quota, can begin between two requests.
      expect(refused.length).toBeGreaterThanOrEqual(5);
      expect(refused.every((answer) => Number(answer.headers['retry-after']) > 0)).toBe(true);
      expect(setup().receiver.received.filter(({ path }) => path === '/cannon').length).toBe(
        45 - refused.length,
      );
    });

    it('is signed with the account’s secret', async () => {
      const { body } = await test({ url: url('/signed') });
      const [request] = await receivedRequests(setup().receiver, '/signed', 1);
      const [, t = '', v1] = /^t=(\d+),v1=(.+)$/.exec(String(request?.headers['x-signature'])) ?? [];
      expect(v1).toBe(
        createHmac('sha256', await setup().secret())
          .update(`${t}.${body.requestBody}`)
          .digest('hex'),
      );
    });
  });
}
