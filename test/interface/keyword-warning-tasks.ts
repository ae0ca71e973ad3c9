import { newId } from '#kernel';
import { ApiClient } from '#testing';
import { checkDescribed } from './described.js';
import { keywordBody, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';

/** Tests of warnings about a keyword, and of refusals of a search that exists already. */
export function keywordWarningTasks(service: () => InterfaceUnderTest, ada: () => Tenant): void {
  describe('warnings', () => {
    const body = () =>
      keywordBody({
        global_criteria: {
          market: 'global',
          query: `acme ${newId()}`,
          filters: { subreddit: 'x', feed_urls: [] },
        },
        webhook_events: ['keyword.paused'],
      });

    it('are returned with each read of a keyword for a source that the operator has turned off, with the reason', async () => {
      const { body: made } = await ada().api.post(
        '/v1/keywords',
        keywordBody({
          global_criteria: { market: 'global', query: `acme ${newId()}` },
          sources: [
            { source: 'lemmy', enabled: true },
            { source: 'hackernews', enabled: true },
            { source: 'github', enabled: false },
          ],
        }),
      );
      const off = { SOURCE_HACKERNEWS_ENABLED: 'false', SOURCE_GITHUB_ENABLED: 'false' };
      const address = await service().anotherGateway(off);
      const later = new ApiClient(address, ada().api.apiKey, checkDescribed);
      const { body: sources } = await later.get('/v1/sources');
      const { reason } = sources.data.find(({ id }: { id: string }) => id === 'hackernews');
      const wanted = [{ path: 'sources[1].source', message: reason }];
      const { body: read } = await later.get(`/v1/keywords/${made.id}`);
      expect([reason, read.warnings]).toEqual([expect.stringContaining('is turned off'), wanted]);
      const { body: list } = await later.get('/v1/keywords');
      expect(list.data.find(({ id }: { id: string }) => id === made.id).warnings).toEqual(wanted);
      const changed = await later.patch(`/v1/keywords/${made.id}`, { name: 'Renamed' });
      expect([changed.status, changed.body.warnings]).toEqual([200, wanted]);
      await later.delete(`/v1/keywords/${made.id}`);
      expect((await later.get(`/v1/keywords/${made.id}`)).body).not.toHaveProperty('warnings');
    });

    it('name the keys of the body that have no effect, for a create and for its estimate', async () => {
      const sent = body();
      const wanted = [
        { path: 'webhook_events', message: 'without a webhookUrl, these events are not sent' },
        {
          path: 'global_criteria.filters.subreddit',
          message: 'hackernews has no filters, so this filter has no effect',
        },
        {
          path: 'global_criteria.filters.feed_urls',
          message: 'hackernews has no filters, so this filter has no effect',
        },
      ];
      const estimate = await ada().api.post('/v1/keywords/estimate', sent);
      expect(estimate.body.warnings).toEqual(wanted);
      const made = await ada().api.post('/v1/keywords', sent);
      expect([made.status, made.body.warnings]).toEqual([201, wanted]);
      // The whole response of the create, also with `warnings`, is a valid body for PATCH.
      expect((await ada().api.patch(`/v1/queries/${made.body.id}`, made.body)).status).toBe(200);
    });

    it('name a field in the schema of the agent step if its `maxLength` is above the maximum', async () => {
      const sent = {
        ...keywordBody({ global_criteria: { market: 'global', query: newId() } }),
        ai_step: {
          instruction: 'Quote it.',
          schema: {
            a_b: { type: 'string', maxLength: 10_001 },
            short: { type: 'string', maxLength: 10_000 },
            free: { type: 'string' },
          },
        },
      };
      const wanted = [
        { path: 'ai_step.schema', message: 'the maxLength of "a_b" counts as 10000, the maximum' },
      ];
      expect((await ada().api.post('/v1/keywords/estimate', sent)).body.warnings).toEqual(wanted);
      const made = await ada().api.post('/v1/keywords', sent);
      expect([made.status, made.body.warnings]).toEqual([201, wanted]);
      expect(made.body.aiStep).toEqual(sent.ai_step);
      expect((await ada().api.patch(`/v1/queries/${made.body.id}`, made.body)).status).toBe(200);
    });

    it('are empty if each key of the body has an effect', async () => {
      const { body: made } = await ada().api.post(
        '/v1/keywords',
        keywordBody({ global_criteria: { market: 'global', query: newId() } }),
      );
      expect(made.warnings).toEqual([]);
    });

    it('do not name a filter that another source of the keyword uses', async () => {
      const { body: made } = await ada().api.post(
        '/v1/keywords',
        keywordBody({
          global_criteria: { market: 'global', query: newId(), filters: { community: 'news' } },
          sources: [
            { source: 'hackernews', enabled: true },
            { source: 'lemmy', enabled: true },
          ],
        }),
      );
      expect(made.warnings).toEqual([]);
    });

    it('name a keyword with the same searches, but never a keyword of another account', async () => {
      const sent = keywordBody({ name: 'First', global_criteria: { market: 'global', query: newId() } });
      const first = (await ada().api.post('/v1/keywords', sent)).body;
      const message = `the keyword "First" (${first.id}) has the same searches: while both run, each match is reported and charged twice`;
      expect((await ada().api.post('/v1/keywords/estimate', sent)).body.warnings).toEqual([
        { path: '', message },
      ]);
      expect((await ada().api.post('/v1/keywords', sent)).body.warnings).toEqual([{ path: '', message }]);
      const bob = await service().tenant();
      expect((await bob.api.post('/v1/keywords', sent)).body.warnings).toEqual([]);
    });
  });

  describe('DUPLICATE_SEARCH', () => {
    it('names the watch and its keyword', async () => {
      const query = newId();
      const keyword = (
        await ada().api.post(
          '/v1/keywords',
          keywordBody({ name: 'Mine', global_criteria: { market: 'global', query } }),
        )
      ).body;
      const { status, body } = await ada().api.post('/v1/hackernews/watches', {
        criteria: { query, market: 'global' },
        refresh_interval_seconds: 600,
      });
      const [watch] = keyword.watches;
      const error = `the watch ${watch.id} of the keyword "Mine" (${keyword.id}) has the same search: use it, or pause or delete the keyword first`;
      expect([status, body.code, body.error]).toEqual([409, 'DUPLICATE_SEARCH', error]);
    });

    it('names the two searches of one keyword', async () => {
      const search = { overrides: { query: 'twice' } };
      const sources = [
        { source: 'hackernews', enabled: true, searches: [{ overrides: { query: 'once' } }, search, search] },
      ];
      const { body } = await ada().api.post('/v1/keywords', keywordBody({ sources }));
      expect(body.details).toEqual([
        {
          path: 'sources',
          message:
            'searches[1] and searches[2] on hackernews have the same criteria; remove one of them, or change its overrides',
        },
      ]);
    });
  });
}
