import { newId } from '#kernel';
import { until, type Json } from '#testing';

import { CONFIGS, HOSTILE, instant, type ChannelsScene } from './channels-scene.js';

/** Tests of messages to channels: formats, delays, failures. */
export function channelMessageTasks(scene: ChannelsScene): void {
  const { channel, read, chat, keyword, event, messages } = scene;

  describe('a message of a channel', () => {
    it.each(['slack', 'discord', 'teams', 'telegram'])(
      'has the official format of %s, and notifies nobody even if the post contains @everyone [channels.formats, channels.hostile, channels.activity]',
      async (kind) => {
        const made = await chat(kind);
        const ids = await keyword({ name: 'Acme <!channel> @everyone', ...instant(made.id) });
        const eventId = await event(ids, {}, HOSTILE);
        const [message] = await messages(1, kind);
        expect([message?.fault, message?.pings]).toEqual([undefined, []]);
        expect(message?.text).not.toMatch(/<!channel>|@everyone|@here|<script>/);
        const lines = await until('it is in the activity', async () => {
          const { body } = await scene.setup.ada.api.get(`/v1/keywords/${ids.keywordId}/activity`);
          return body.activity.length > 0 && body.activity;
        });
        expect(lines).toMatchObject([
          { type: 'webhook.delivered', eventId, channelId: made.id, channelKind: kind },
        ]);
      },
    );

    it('is the signed bytes of the event for a webhook, and is sent once even if several rules name the channel [channels.webhook, channels.once]', async () => {
      const made = await channel('webhook', { url: `${scene.setup.receiver.url}/channel` });
      const ids = await keyword(instant(made.id));
      const id = await event(ids, { notifyChannelIds: [made.id], notifyKeywordChannels: true });
      const [first] = await until(
        'it arrives',
        () => scene.setup.receiver.received.length > 0 && scene.setup.receiver.received,
      );
      expect([first?.headers['webhook-id'], JSON.parse(String(first?.body)).id]).toEqual([id, id]);
      expect(first?.headers['x-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
      // A second copy of the first event would arrive before the next event.
      const next = await event(ids);
      await until('the next event arrives', () => scene.setup.receiver.received.length >= 2);
      expect(scene.setup.receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([id, next]);
    });

    it('is sent to the channels that a rule notifies, but never to a channel of another account [channels.notify]', async () => {
      const [named, own] = [await chat('slack', 'named0001'), await chat('slack', 'owned0001')];
      const foreign = (
        await scene.bob.api.post('/v1/channels', {
          kind: 'slack',
          name: 'b',
          config: CONFIGS.slack?.('bobs00001'),
        })
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
      // When this event arrives, all earlier events have been handled.
      await event(ids, { push: false, notifyChannelIds: [own.id] }, 'marker');
      await messages(3, 'slack');
      expect(
        scene.sim.inbox
          .messages('slack')
          .map(({ to }) => to)
          .sort(),
      ).toEqual(['/services/T1/B1/named0001', '/services/T1/B1/owned0001', '/services/T1/B1/owned0001']);
    });

    it('waits for the time in the `Retry-After` of a 429, and the other messages of this channel wait too [channels.retry-after]', async () => {
      const made = await chat('discord', 'paused001');
      const ids = await keyword(instant(made.id));
      scene.sim.faults.add({ source: 'discord', kind: '429', times: 1, retryAfterSeconds: 1 });
      const began = Date.now();
      const first = await event(ids);
      const refused = await until('the first attempt', async () =>
        (await scene.setup.attempts()).find((one) => one.eventId === first),
      );
      expect(refused).toMatchObject({ statusCode: 429, delivered: false, number: 1 });
      expect(Date.parse(refused.nextAttemptAt) - Date.parse(refused.at)).toBeGreaterThanOrEqual(1000);
      await event(ids);
      await messages(2, 'discord');
      expect(Date.now() - began).toBeGreaterThanOrEqual(1000);
      const attempts = await until('both are recorded as delivered', async () => {
        const found = (await scene.setup.attempts()).filter(({ channelId }) => channelId === made.id);
        return found.filter(({ delivered }) => delivered).length === 2 && found;
      });
      expect(attempts.filter(({ statusCode }) => statusCode === 429).length).toBe(1);
    });

    it('is refused with 429 if it is a test and its destination has asked for a pause', async () => {
      const made = await chat('slack', 'paused002');
      const test = () => scene.setup.ada.api.post(`/v1/channels/${made.id}/test`, {});
      scene.sim.faults.add({ source: 'slack', kind: '429', times: 1, retryAfterSeconds: 60 });
      expect((await test()).status).toBe(200);
      const { status, body } = await test();
      expect([status, body.code]).toEqual([429, 'TOO_MANY_REQUESTS']);
      expect(body.error).toContain('the destination of the channel accepts no messages now');
    });

    it('arrives once, roughly in the order of the events, even if it is one of 500 and the receiver answers 429 [channels.retry-after, channels.burst, channels.order]', async () => {
      const path = `/burst-${newId()}`;
      const made = await channel('webhook', { url: `${scene.setup.receiver.url}${path}` });
      const ids = await keyword(instant(made.id));
      scene.setup.receiver.answers.set(path, { status: 429, headers: { 'retry-after': '1' } });
      const sent: string[] = [];
      for (let n = 0; n < 250; n += 1) sent.push(await event(ids));
      await until('the receiver has answered 429', () =>
        scene.setup.receiver.received.some((one) => one.path === path),
      );
      const refused = scene.setup.receiver.received.filter((one) => one.path === path).length;
      scene.setup.receiver.answers.delete(path);
      for (let n = 0; n < 250; n += 1) sent.push(await event(ids));
      const arrived = await until(
        'all arrive',
        () => {
          const found = scene.setup.receiver.received.filter((one) => one.path === path).slice(refused);
          return found.length >= 500 && found.map(({ headers }) => String(headers['webhook-id']));
        },
        60_000,
      );
      expect(arrived.toSorted()).toEqual(sent.toSorted());
      // Events that are sent at the same time can overtake each other. If the order were not kept, all 250
      // new events would arrive before the events that wait after a 429. Then most events would arrive about
      // 250 places away from their place in `sent`.
      const places = new Map(sent.map((id, n) => [id, n]));
      const distances = arrived.map((id, n) => Math.abs((places.get(id) ?? 0) - n)).toSorted((a, b) => a - b);
      expect(distances[distances.length / 2]).toBeLessThan(125);
    }, 90_000);

    it('waits, and is not lost, if a burst exceeds the rate that Telegram allows [channels.burst]', async () => {
      const made = await chat('telegram', 'burst0001');
      const ids = await keyword(instant(made.id));
      for (let n = 0; n < 12; n += 1) await event(ids, {}, `number ${n}`);
      // The rate allows 5 messages immediately, then one every 3 s. How many have arrived depends on the machine, but
      // the sum of sent and waiting messages is always 12.
      const sent = await until('each was sent or waits', async () => {
        const rows: { waiting: number }[] = await scene.setup.database.query(
          'SELECT count(*)::int AS waiting FROM pending_deliveries WHERE endpoint = $1',
          [`channel:${made.id}`],
        );
        const count = scene.sim.inbox.messages('telegram').length;
        return count >= 5 && count + (rows[0]?.waiting ?? 0) === 12 && count;
      });
      expect(sent).toBeLessThan(12);
      // Deletes the waiting messages, so that they do not arrive during later tests.
      await scene.setup.ada.api.delete(`/v1/channels/${made.id}`);
      await scene.setup.database.query('DELETE FROM pending_deliveries WHERE endpoint = $1', [
        `channel:${made.id}`,
      ]);
    });

    it('disables its channel if the destination no longer exists, and the keyword’s other channels get a report [channels.gone, channels.disabled-told]', async () => {
      const [gone, other] = [await chat('slack', 'gone000001'), await chat('slack', 'other00001')];
      const ids = await keyword(instant(gone.id, other.id));
      const id = await event(ids);
      await until('it is disabled', async () => (await read(gone.id)).state === 'disabled');
      expect((await read(gone.id)).disabledReason).toBe('Slack answered 404 (no_service)');
      const report = await until('the other channel gets the report', () =>
        scene.sim.inbox
          .messages('slack', '/services/T1/B1/other00001')
          .find(({ text }) => /is disabled/.test(text)),
      );
      expect([report.fault, report.pings]).toEqual([undefined, []]);
      await event(ids);
      const unsent = await until('the next event is given up', async () =>
        (await scene.setup.attempts()).find(
          (one) => one.channelId === gone.id && one.eventId !== id && one.number === 0,
        ),
      );
      expect(unsent.message).toMatch(/^not sent: the channel is disabled/);
      await until('the failed attempt is in the activity', async () => {
        const { body } = await scene.setup.ada.api.get(`/v1/keywords/${ids.keywordId}/activity`);
        return body.activity.some(
          ({ type, channelId, statusCode }: Json) =>
            type === 'webhook.failed' && channelId === gone.id && statusCode === 404,
        );
      });
      const enabled = await scene.setup.ada.api.post(`/v1/channels/${gone.id}/enable`, {});
      expect(enabled.body).toMatchObject({ state: 'active', disabledReason: null });
    });

    it('disables its channel if it fails and no message of the channel was delivered in the last 5 days [channels.gone]', async () => {
      const made = await chat('slack', 'failing001');
      const ids = await keyword(instant(made.id));
      await scene.setup.database.query(
        `INSERT INTO webhook_endpoints (account_id, endpoint, failing_since, failures) VALUES ($1, $2, now() - interval '6 days', 40)`,
        [scene.setup.ada.accountId, `channel:${made.id}`],
      );
      scene.sim.faults.add({ source: 'slack', kind: '500', times: 1, path: 'failing001' });
      await event(ids);
      await until('it is disabled', async () => (await read(made.id)).state === 'disabled');
      expect((await read(made.id)).disabledReason).toBe('only failures for 5 days');
      const found = await until('its delivery can be found', async () => {
        const { body } = await scene.setup.ada.api.get(`/v1/deliveries?endpoint=channel:${made.id}`);
        return body.data[0]?.attempts.length === 2 && body.data;
      });
      expect(found).toMatchObject([{ state: 'given_up', target: { kind: 'channel', id: made.id } }]);
      // The channel is not in the list of endpoints, so it cannot be enabled as a webhook address.
      const { body } = await scene.setup.ada.api.get('/v1/endpoints');
      expect(body.data.some(({ url }: Json) => url.startsWith('channel:'))).toBe(false);
    });

    it('is not sent if its channel was deleted while the message waited [channels.deleted]', async () => {
      const made = await chat('teams', 'deleted01');
      const ids = await keyword(instant(made.id));
      scene.sim.faults.add({ source: 'teams', kind: '503', times: 1 });
      const id = await event(ids);
      await until('the first attempt failed', async () =>
        (await scene.setup.attempts()).some((one) => one.eventId === id),
      );
      await scene.setup.ada.api.delete(`/v1/channels/${made.id}`);
      await scene.setup.database.query(
        "UPDATE pending_deliveries SET due_at = now() - interval '1 second' WHERE event_id = $1",
        [id],
      );
      const last = await until('it is given up', async () =>
        (await scene.setup.attempts()).find((one) => one.eventId === id && one.number === 0),
      );
      expect(last.message).toBe('not sent: the channel was deleted');
    });
  });
}
