import { AddressLinks } from '#secrets';
import { until } from '#testing';
import { keywordBody, type Tenant } from './interface-under-test.js';

import { browse, CONFIGS, instant, mailIn, type ChannelsScene } from './channels-scene.js';

/** Tests that the channels of one account do not delay the channels of another account. */
export function channelFairnessTasks(scene: ChannelsScene): void {
  const { chat, keyword, event, messages } = scene;

  describe('the messages of an account', () => {
    const sendTo = async (tenant: Tenant, text: string, ...channels: string[]) => {
      const { body } = await tenant.api.post('/v1/keywords', keywordBody(instant(...channels)));
      return () => event({ keywordId: body.id, watchId: body.watches[0].id }, {}, text, tenant);
    };
    const sendBob = (channelId: string) => sendTo(scene.bob, 'For Bob', channelId);
    /** Returns true if an attempt to send to one of these channels has ended. */
    const hasEnded = async (...ids: string[]) =>
      (await scene.setup.attempts()).some(
        ({ channelId, targetKind, number }) =>
          number > 0 && targetKind === 'channel' && ids.includes(channelId),
      );

    /** Creates an email channel and verifies all its addresses. @returns its id */
    async function verified({ api, accountId }: Tenant, ...to: string[]): Promise<string> {
      const { body } = await api.post('/v1/channels', { kind: 'email', name: 'Mail', config: { to } });
      const links = new AddressLinks('5e'.repeat(32), scene.setup.service.url);
      await until('each address has got its verification mail', () =>
        to.every((address) => scene.sim.inbox.messages('smtp', address).length > 0),
      );
      for (const address of to) {
        const ref = { accountId, channelId: body.id, address };
        expect((await browse(links.urlOf('verify', ref, Date.now()), { method: 'POST' })).status).toBe(200);
      }
      return body.id;
    }

    it('do not wait for many mails of another account, which are all sent exactly once [channels.fair]', async () => {
      const [mails, events] = [5, 30];
      const sendToBob = await sendBob(await verified(scene.bob, 'bob@example.org'));
      const channels: string[] = [];
      for (let n = 0; n < mails; n += 1)
        channels.push(await verified(scene.setup.ada, `flood-${n}@example.org`));
      const ids = await keyword(instant(...channels));
      const arrived = () =>
        scene.sim.inbox
          .messages('smtp')
          .filter(({ to, text }) => /^(flood|bob@)/.test(to) && /Acme is great|For Bob/.test(text));
      await Promise.all(Array.from({ length: events }, () => event(ids)));
      await sendToBob();
      const all = await until('all arrive', () => arrived().length > mails * events && arrived(), 60_000);
      expect(new Set(all.map((one) => mailIn(one).messageId)).size).toBe(mails * events + 1);
      expect(all.length).toBe(mails * events + 1);
      expect(all.findIndex(({ to }) => to === 'bob@example.org')).toBeLessThan((mails * events) / 2);
    }, 90_000);

    it('do not wait while the mail server does not answer the mails of another account [channels.fair]', async () => {
      const sendToBob = await sendBob(await verified(scene.bob, 'bobs@example.org'));
      const hanging: string[] = [];
      // Two accounts send at the same moment. Each of them sends more mails than there are connections.
      const tenants = [scene.setup.ada, await scene.setup.service.tenant()];
      for (const tenant of tenants) {
        const channels: string[] = [];
        for (const name of ['a', 'b', 'c']) {
          const local = `stall-${name}${hanging.length}`;
          channels.push(await verified(tenant, ...[1, 2, 3, 4].map((n) => `${local}${n}@example.org`)));
        }
        await (
          await sendTo(tenant, 'Acme is great', ...channels)
        )();
        hanging.push(...channels);
      }
      await until('each mail waits', async () => {
        const rows: { count: number }[] = await scene.setup.database.query(
          'SELECT count(*)::int AS count FROM pending_deliveries WHERE endpoint = ANY ($1)',
          [hanging.map((id) => `channel:${id}`)],
        );
        return rows[0]?.count === 24;
      });
      await sendToBob();
      await until('it arrives', () =>
        scene.sim.inbox.messages('smtp', 'bobs@example.org').some(({ text }) => text.includes('For Bob')),
      );
      // The attempts end when the mail server has not answered for 10 minutes.
      expect(await hasEnded(...hanging)).toBe(false);
      for (const { api } of tenants) for (const id of hanging) await api.delete(`/v1/channels/${id}`);
    }, 30_000);

    it('do not wait while chats of another account do not answer or get many messages [channels.fair]', async () => {
      const [hangs, floods] = [await chat('slack', 'hangs00001'), await chat('slack', 'floods0001')];
      scene.sim.faults.add({ source: 'slack', kind: 'hang', times: 0, path: 'hangs00001' });
      const made = await scene.bob.api.post('/v1/channels', {
        ...{ kind: 'slack', name: 'b', config: CONFIGS.slack?.('bobs00002') },
      });
      const sendToBob = await sendBob(made.body.id);
      const ids = await keyword(instant(hangs.id, floods.id));
      await Promise.all(Array.from({ length: 40 }, () => event(ids)));
      const flood = () => scene.sim.inbox.messages('slack', '/services/T1/B1/floods0001').length;
      await until('the flood has begun', () => flood() > 0);
      await sendToBob();
      await messages(1, 'slack', '/services/T1/B1/bobs00002');
      // Most messages of the flood still wait, because the rate of a chat is limited. The request without an
      // answer would end after 10 s.
      expect(flood()).toBeLessThan(40);
      expect(await hasEnded(hangs.id)).toBe(false);
      for (const { id } of [hangs, floods]) await scene.setup.ada.api.delete(`/v1/channels/${id}`);
    }, 30_000);
  });
}
