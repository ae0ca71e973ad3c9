import { randomBytes } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { DigestAssembledSchema, type Digest } from '#contracts';
import { derivedId, newId } from '#kernel';
import { subjectOf } from '#messaging';
import { until, type Json } from '#testing';

import { browse, HOSTILE, linkIn, mailIn, type ChannelsScene } from './channels-scene.js';

/** Tests of digests and reports that are sent to channels. */
export function channelDigestTasks(scene: ChannelsScene): void {
  const { channel, chat, keyword, messages } = scene;

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
        mode === 'weekly_report'
          ? `${scene.setup.service.url}/reports/${randomBytes(24).toString('base64url')}`
          : '';
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
        accountId: scene.setup.ada.accountId,
        keywordId,
        channelId,
        mode,
        assembledAt: new Date().toISOString(),
        periodFrom: period.from,
        periodTo: period.to,
        body: Buffer.from(JSON.stringify(digest)),
        reportUrl: url,
      });
      const subject = subjectOf('DIGESTS', scene.setup.ada.accountId, keywordId, channelId, mode);
      await scene.setup.store.publish(subject, toBinary(DigestAssembledSchema, fact), digestId);
      return digestId;
    }

    it.each(['slack', 'discord', 'teams', 'telegram'])(
      'arrives once at %s, within the limits of the service, and states how many items are left out [channels.digests]',
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
        expect(scene.sim.inbox.messages(kind).length).toBe(2);
        const sent = (await scene.setup.attempts()).filter((one) => one.eventId === first);
        expect(sent).toMatchObject([{ targetKind: 'digest', channelId: made.id, delivered: true }]);
      },
    );

    it('is JSON if the channel is a webhook, and is found in the list of deliveries with the filter `target` [channels.digests, deliveries.list]', async () => {
      scene.setup.receiver.received.length = 0;
      const made = await channel('webhook', { url: `${scene.setup.receiver.url}/digests` });
      const ids = await keyword({ channels: [{ channel_id: made.id, mode: 'daily' }] });
      const id = await assembled(ids.keywordId, made.id, 'daily');
      const [first] = await until(
        'it arrives',
        () => scene.setup.receiver.received.length > 0 && scene.setup.receiver.received,
      );
      expect([first?.headers['webhook-id'], JSON.parse(String(first?.body)).total]).toEqual([id, 60]);
      const found = async (query: string) =>
        (await scene.setup.ada.api.all(`/v1/deliveries?keyword=${ids.keywordId}&${query}`)).map(
          ({ target }) => target as Json,
        );
      const digests = await until('the digest is listed', async () => {
        const listed = await found('target=digest');
        return listed.length > 0 && listed;
      });
      expect(digests).toMatchObject([{ kind: 'digest' }]);
      expect(await found(`target=${made.id}`)).toEqual(digests);
      for (const other of ['webhook', 'channel', newId()]) expect(await found(`target=${other}`)).toEqual([]);
      expect((await scene.setup.ada.api.get('/v1/deliveries?target=pigeon')).status).toBe(400);
    });

    it('is a mail with PNG charts if it is a weekly report, and a signed address shows the report until a purge [reports.mail, reports.page, reports.api]', async () => {
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
      expect(mail.text).toContain('+50 % compared with the week before (20)');
      expect(mail.text).toContain('Sources: Reddit 20 (67 %), X 10 (33 %)');
      expect(mail.html).not.toMatch(/<script|javascript:|<b>eve/);

      const listed = await until('it is listed', async () => {
        const { body } = await scene.setup.ada.api.get(`/v1/reports?keyword=${ids.keywordId}`);
        return body.data.length > 0 && body.data;
      });
      expect(listed).toMatchObject([{ id, keywordId: ids.keywordId, channelId: made.id }]);
      const { body } = await scene.setup.ada.api.get(`/v1/reports/${id}`);
      expect(body).toMatchObject({ id, volume: { count: 30, previous: 20 }, authors: [{ vip: true }] });
      expect((await scene.bob.api.get(`/v1/reports/${id}`)).status).toBe(404);
      // The gateway under test does not know its own address, so the host of the URL is replaced.
      const signed = `${scene.setup.service.url}${new URL(body.url).pathname}`;
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
      // The address in this mail is unsigned, as in mails of earlier releases.
      expect(await statuses()).toEqual([200, 200, 404, 404]);
      await scene.setup.ada.api.delete(`/v1/keywords/${ids.keywordId}?purge=true`);
      expect(await statuses()).toEqual([404, 404, 404, 404]);
    });
  });
}
