import { until } from '#testing';

import { browse, HOSTILE, instant, linkIn, mailIn, type ChannelsScene } from './channels-scene.js';

/** Tests of events that are sent by mail: verification, refusals, unsubscription. */
export function channelMailTasks(scene: ChannelsScene): void {
  const { channel, read, keyword, event, messages } = scene;

  describe('an email channel', () => {
    it('sends events, with a one-click unsubscription, only after the owner of the address has confirmed [channels.verification, channels.mail, channels.unsubscribe]', async () => {
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
        (await scene.setup.attempts()).find((one) => one.channelId === made.id && one.number === 0),
      );
      expect(unsent.message).toBe('not sent: the address is not verified');
      const verify = linkIn(mail, 'verify');
      const page = await browse(verify);
      expect([page.status, page.text]).toEqual([200, expect.stringContaining('<form method="post">')]);
      expect((await read(made.id)).state).toBe('unverified');
      expect((await browse(verify, { method: 'POST' })).status).toBe(200);
      expect(await read(made.id)).toMatchObject({ state: 'active', addresses: [{ state: 'verified' }] });
      scene.sim.inbox.clear();

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
        disabledReason: 'every address has unsubscribed or was refused',
        addresses: [{ state: 'unsubscribed' }],
      });
      expect((await browse(unsubscribe.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')))).status).toBe(
        404,
      );
    });

    it('marks an address as refused after a 5xx for it, and is disabled when no other address is left [channels.mail-refused]', async () => {
      const made = await channel('email', { to: ['eve@example.org', 'status-550@example.org'] });
      const [mail] = await messages(1, 'smtp', 'eve@example.org');
      await browse(linkIn(mailIn(mail), 'verify'), { method: 'POST' });
      const refused = await until('the other address is refused', async () =>
        (await scene.setup.attempts()).find((one) => one.channelId === made.id && one.statusCode === 550),
      );
      expect(refused).toMatchObject({ targetKind: 'verification', nextAttemptAt: '' });
      expect(refused.message).toBe('the mail server answered 550 5.1.1: it does not accept the address');
      const ids = await keyword(instant(made.id));
      scene.sim.inbox.clear();
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

    it('repeats a mail after a 4xx of the mail server [channels.mail-retried]', async () => {
      const made = await channel('email', { to: ['greylist@example.org'] });
      const first = await until('the first attempt', async () =>
        (await scene.setup.attempts()).find((one) => one.channelId === made.id),
      );
      expect([first.statusCode, first.nextAttemptAt !== '']).toEqual([451, true]);
      await scene.setup.database.query(
        "UPDATE pending_deliveries SET due_at = now() - interval '1 second' WHERE event_id = $1",
        [first.eventId],
      );
      await until('it arrives', () =>
        scene.sim.inbox.messages('smtp', 'greylist@example.org').some(({ status }) => status === 250),
      );
    });

    it('sends another verification mail after a test of the channel, and after the address was removed and added [channels.verification]', async () => {
      const made = await channel('email', { to: ['here@example.org', 'silent@example.org'] });
      const [mail] = await messages(1, 'smtp', 'here@example.org');
      await browse(linkIn(mailIn(mail), 'verify'), { method: 'POST' });
      await messages(1, 'smtp', 'silent@example.org');
      const path = `/v1/channels/${made.id}`;
      expect((await scene.setup.ada.api.post(`${path}/test`, {})).body).toMatchObject({
        delivered: true,
        message: 'the test message was accepted; the verification was sent again to silent@example.org',
      });
      await messages(2, 'smtp', 'silent@example.org');
      await scene.setup.ada.api.patch(path, { config: { to: ['here@example.org'] } });
      await scene.setup.ada.api.patch(path, { config: { to: ['here@example.org', 'silent@example.org'] } });
      await messages(3, 'smtp', 'silent@example.org');
      const { body } = await scene.setup.ada.api.post(`${path}/test`, {});
      expect(body).toMatchObject({ delivered: true });
      expect(body.message).toMatch(/silent@example\.org has got 3 verification mails today/);
    });

    it('sends at most three verification mails a day to an address [channels.verification-limit]', async () => {
      const made = await channel('email', { to: ['victim@example.org'] });
      const test = () => scene.setup.ada.api.post(`/v1/channels/${made.id}/test`, {});
      expect((await test()).body).toMatchObject({ delivered: false, statusCode: null });
      expect((await test()).status).toBe(200);
      const { status, body } = await test();
      expect([status, body.code]).toEqual([429, 'TOO_MANY_REQUESTS']);
    });
  });
}
