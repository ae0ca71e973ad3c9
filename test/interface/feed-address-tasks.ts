import { parseAtomFeed } from 'feedsmith';
import { request } from 'undici';
import { keywordBody } from './interface-under-test.js';
import type { MentionsScene } from './mentions-scene.js';

/** Tests of feeds: feed readers read the mentions of a keyword at its secret addresses. */
export function feedAddressTasks(scene: MentionsScene): void {
  const { mention } = scene;

  describe('the feeds of a keyword', () => {
    const fetched = async (url: string, headers: Record<string, string> = {}) => {
      const answer = await request(url, { headers });
      return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
    };

    it('show the keyword’s newest mentions to readers without an API key, but no dropped or hidden mentions [feeds.open]', async () => {
      const body = keywordBody({ global_criteria: { market: 'global', query: 'fed' } });
      const own = (await scene.ada.api.post('/v1/keywords', body)).body;
      const ids = { keyword_id: own.id, watch_id: own.watches[0].id };
      const seen = await mention({ ...ids, title: '<b>Fed & "fed"</b>', text: ']]> \u0001 fed' });
      await mention({ ...ids, dropped_reason: 'muted', dropped_rule: 'x' });
      await mention({ ...ids, labels: ['hidden'] });
      const { status, body: feed } = await scene.ada.api.get(`/v1/keywords/${own.id}/feed`);
      expect(status).toBe(200);
      const atom = await fetched(feed.atomUrl);
      expect([atom.status, atom.headers['content-type']]).toEqual([
        200,
        'application/atom+xml; charset=utf-8',
      ]);
      expect(parseAtomFeed(atom.text).entries).toMatchObject([
        { id: `urn:uuid:${seen}`, title: { value: '<b>Fed & "fed"</b>' }, content: { value: ']]>  fed' } },
      ]);
      const { headers, text } = await fetched(feed.jsonUrl);
      expect([headers['content-type'], headers['x-robots-tag']]).toEqual([
        'application/feed+json; charset=utf-8',
        'noindex',
      ]);
      expect(JSON.parse(text)).toMatchObject({ feed_url: feed.jsonUrl, items: [{ id: seen }] });
      const again = await fetched(feed.jsonUrl, { 'if-none-match': String(headers.etag) });
      expect([again.status, again.text]).toEqual([304, '']);
    });

    it('get new addresses if they are rotated, and the old addresses then return 404 [feeds.rotate]', async () => {
      const path = `/v1/keywords/${scene.keyword.id}/feed`;
      const { body: before } = await scene.ada.api.get(path);
      const { status, body: after } = await scene.ada.api.post(
        `${path}/rotate`,
        {},
        { 'idempotency-key': 'rotate' },
      );
      expect([status, (await scene.ada.api.get(path)).body]).toEqual([200, after]);
      const rows = await scene.service.database.query('SELECT body FROM idempotency_records');
      expect(rows.length).toBeGreaterThan(0);
      expect(JSON.stringify(rows)).not.toContain('/feeds/');
      const statuses = [before.atomUrl, before.jsonUrl, after.atomUrl, after.jsonUrl].map(
        async (url) => (await fetched(url)).status,
      );
      expect(await Promise.all(statuses)).toEqual([404, 404, 200, 200]);
      const forged = after.atomUrl.replace(/.\.xml$/, (end: string) =>
        end.startsWith('A') ? 'B.xml' : 'A.xml',
      );
      expect((await fetched(forged)).status).toBe(404);
      const bob = await scene.service.tenant();
      expect([(await bob.api.get(path)).status, (await bob.api.post(`${path}/rotate`, {})).status]).toEqual([
        404, 404,
      ]);
    });
  });
}
